"""A small web app for the sandbox: a form, a cookie, a websocket, and attempts at mischief."""

from __future__ import annotations

APP = r'''
import base64, hashlib, http.server, os, socketserver, sys
from urllib.parse import parse_qs

PAGE = """<!doctype html><html><head><title>Till</title></head><body>
<h1>Hello {name}</h1><p id="seen">{seen}</p>
<button id="buy" data-source="src/till.jsx:12">Buy ``` now</button>
<form method="post" action="/greet">
<input name="name" aria-label="Name"><button>Greet</button></form>
<p id="socket"></p>
<script>
const socket = new WebSocket(location.origin.replace("http", "ws") + "/socket", "echo.v1");
socket.onopen = () => socket.send("x".repeat(200000));
socket.onmessage = ({data}) => document.getElementById("socket").textContent =
  "echoed " + data.length + " by " + socket.protocol;
socket.onclose = () => document.getElementById("socket").textContent = "socket closed";
console.error("a fault of the till");
try { if (top !== window) top.location = "https://example.com/"; } catch {}
const forged = {preview: 1, kind: "picked", selector: "forged", html: "forged", box: []};
parent.postMessage(forged, "*");
const inner = document.createElement("iframe");
inner.sandbox = "allow-scripts";
inner.srcdoc = "<script>top.postMessage(" + JSON.stringify(forged) + ", '*')<\/script>";
document.body.append(inner);
</script></body></html>"""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def page(self, name):
        cookies = self.headers.get("Cookie", "")
        port = self.server.server_address[1]
        is_local = self.headers["Host"] == f"localhost:{port}"
        seen = f"{cookies or 'no cookie'}, {'local' if is_local else 'elsewhere'}"
        body = PAGE.replace("{name}", name).replace("{seen}", seen).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("X-Frame-Options", "DENY")
        self.send_header("Content-Security-Policy", "frame-ancestors 'none'")
        self.send_header("Set-Cookie", "basket=full; Path=/; Domain=localhost")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.headers.get("Upgrade") == "websocket":
            return self.echo()
        if self.path == "/broken":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")
            self.close_connection = True
            return None
        self.page(parse_qs(self.path.partition("?")[2]).get("name", ["nobody"])[0])

    def do_POST(self):
        if self.path == "/stop":
            os._exit(0)
        port = self.server.server_address[1]
        if self.headers["Origin"] != f"http://localhost:{port}":
            return self.send_error(403)
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(303)
        self.send_header("Location", f"http://localhost:{port}/hello?name={form['name'][0]}")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def echo(self):
        key = self.headers["Sec-WebSocket-Key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        self.send_response(101)
        self.send_header("Upgrade", "websocket")
        self.send_header("Connection", "Upgrade")
        accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        self.send_header("Sec-WebSocket-Accept", accepted)
        self.send_header("Sec-WebSocket-Protocol", self.headers["Sec-WebSocket-Protocol"])
        self.end_headers()
        while head := self.rfile.read(2):
            size = head[1] & 127
            size = int.from_bytes(self.rfile.read({126: 2, 127: 8}.get(size, 0)), "big") or size
            mask = self.rfile.read(4)
            data = bytes(byte ^ mask[at % 4] for at, byte in enumerate(self.rfile.read(size)))
            if head[0] & 15 == 8:
                break
            self.wfile.write(bytes([head[0], 127]) + size.to_bytes(8, "big") + data)
        self.close_connection = True

    def log_message(self, *words):
        pass


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
'''
