{% load static %}// The service worker of the installed app: a page for the time without a connection, and
// notifications. Nothing of a conversation is ever kept by it.
const OFFLINE = "{% url "offline" %}";
const SHELL = [OFFLINE, "{% static "css/tokens.css" %}", "{% static "css/base.css" %}", "{% static "css/layout.css" %}", "{% static "css/components.css" %}", "{% static "favicon.svg" %}"];
const NAME = `shell:${SHELL.join()}`;

self.addEventListener("install", (event) => {
  const wanted = SHELL.map((url) => new Request(url, { credentials: "omit" }));
  event.waitUntil(caches.open(NAME).then((cache) => cache.addAll(wanted)).then(() => self.skipWaiting()));
});

self.addEventListener("activate", (event) => {
  const drop = (names) => Promise.all(names.filter((name) => name !== NAME).map((name) => caches.delete(name)));
  event.waitUntil(caches.keys().then(drop).then(() => self.clients.claim()));
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => caches.match(OFFLINE)));
  else if (SHELL.includes(new URL(request.url).pathname)) {
    event.respondWith(fetch(request).catch(async () => (await caches.match(request, { ignoreVary: true })) ?? Response.error()));
  }
});

// What the server has encrypted for this browser. A page that shows the place tells of it itself.
self.addEventListener("push", (event) => {
  const { title, url, ...shown } = event.data.json();
  const { pathname } = new URL(url, self.location);
  const isThere = (one) => one.visibilityState === "visible" && new URL(one.url).pathname === pathname;
  event.waitUntil(
    self.clients.matchAll({ type: "window", includeUncontrolled: true }).then((windows) => {
      if (!windows.some(isThere)) return self.registration.showNotification(title, { ...shown, data: { url } });
    }),
  );
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  const { href, pathname, hash } = new URL(event.notification.data.url, self.location);
  event.waitUntil(
    self.clients.matchAll({ type: "window" }).then(async (windows) => {
      const open = windows.find((one) => new URL(one.url).pathname === pathname) ?? windows[0];
      if (!open) return self.clients.openWindow(href);
      await open.focus();
      if (hash || new URL(open.url).pathname !== pathname) await open.navigate(href);
    }),
  );
});
