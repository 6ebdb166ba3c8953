// Drawing on a picture, by the pointer or the arrow keys and Space.
import { make } from "./make.js";
import { toast } from "./toast.js";
import { _ } from "./words.js";

// Browsers give no larger canvas the memory that it needs.
const MAX_SIDE = 4096;
const COLOURS = { "#e02424": _("Red"), "#f5b301": _("Yellow"), "#1a7f37": _("Green"), "#1f5fe0": _("Blue"), "#000000": _("Black"), "#ffffff": _("White") };
const TOOLS = { pen: _("Pen"), arrow: _("Arrow"), rectangle: _("Rectangle"), text: _("Text") };

const ROUTES = {
  pen: (pen, points) => points.forEach(([x, y]) => pen.lineTo(x, y)),
  rectangle: (pen, [[x, y], [right, bottom]]) => pen.rect(x, y, right - x, bottom - y),
  arrow(pen, [[x, y], [endX, endY]], width) {
    const angle = Math.atan2(endY - y, endX - x);
    const wing = (turn) => [endX - width * 5 * Math.cos(angle + turn), endY - width * 5 * Math.sin(angle + turn)];
    pen.moveTo(x, y);
    pen.lineTo(endX, endY);
    pen.moveTo(...wing(0.5));
    pen.lineTo(endX, endY);
    pen.lineTo(...wing(-0.5));
  },
};

function paint(pen, { tool, colour, points, text }, width) {
  Object.assign(pen, { strokeStyle: colour, fillStyle: colour, lineWidth: width, lineCap: "round", lineJoin: "round" });
  if (tool === "text") {
    pen.font = `600 ${width * 6}px Inter, sans-serif`;
    return pen.fillText(text, ...points[0]);
  }
  pen.beginPath();
  ROUTES[tool](pen, points, width);
  pen.stroke();
}

function build(name) {
  const tools = make("div", { className: "segments", role: "group", ariaLabel: _("Tool") });
  for (const [tool, label] of Object.entries(TOOLS)) {
    const radio = make("input", { type: "radio", name: "draw-tool", value: tool, className: "unseen", checked: tool === "pen" });
    tools.append(make("label", { className: "segment" }, radio, label));
  }
  const colour = make("select", { ariaLabel: _("Color") }, ...Object.entries(COLOURS).map(([value, label]) => make("option", { value }, label)));
  const text = make("input", { className: "input input-small", ariaLabel: _("Text to place"), placeholder: _("Text to place"), maxLength: 200, hidden: true });
  const button = (text, look = "") => make("button", { type: "button", className: `button ${look}` }, text);
  const [undo, cancel, done] = [button(_("Undo"), "button-quiet"), button(_("Cancel")), button(_("Done"), "button-main")];
  const canvas = make("canvas", { className: "draw-canvas", tabIndex: 0, role: "application", ariaLabel: _("Picture {name}", { name }) });
  canvas.setAttribute("aria-describedby", "draw-hint");
  const hint = make("p", { className: "meta draw-hint", id: "draw-hint" }, _("Arrow keys move the mark, with Shift further. Space begins and ends a shape."));
  const state = make("p", { className: "unseen", role: "status" });
  const chevron = document.querySelector(".composer .select > .icon")?.cloneNode(true) ?? "";
  const head = make("div", { className: "draw-tools" }, tools, make("span", { className: "select" }, colour, chevron), text, undo, make("span", { className: "draw-ends" }, cancel, done));
  const dialog = make("dialog", { className: "dialog draw", ariaLabel: _("Draw on {name}", { name }) }, head, make("div", { className: "draw-area" }, canvas), hint, state);
  return { dialog, tools, colour, text, undo, cancel, done, canvas, state };
}

/** Let somebody draw on a picture. Returns: the file with the drawing; null when nothing was drawn. */
export async function draw(file) {
  const picture = await createImageBitmap(file).catch(() => null);
  if (!picture) return toast(_("{name} cannot be shown here.", { name: file.name }), "bad"), null;
  const { dialog, tools, colour, text, undo, cancel, done, canvas, state } = build(file.name);
  const scale = Math.min(1, MAX_SIDE / Math.max(picture.width, picture.height));
  Object.assign(canvas, { width: Math.round(picture.width * scale), height: Math.round(picture.height * scale) });
  const pen = canvas.getContext("2d");
  const side = Math.max(canvas.width, canvas.height);
  const width = Math.max(3, Math.round(side / 300));
  const shapes = [];
  let open = null;
  let mark = null;
  const tool = () => tools.querySelector(":checked").value;

  function show() {
    pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
    for (const shape of open ? [...shapes, open] : shapes) paint(pen, shape, width);
    undo.disabled = !shapes.length;
    if (!mark) return;
    const [x, y] = mark;
    const arm = width * 4;
    for (const [ink, by] of [["#ffffff", width], ["#000000", width / 2]])
      for (const points of [[[x - arm, y], [x + arm, y]], [[x, y - arm], [x, y + arm]]]) paint(pen, { tool: "pen", colour: ink, points }, by);
  }
  function begin(point) {
    if (tool() === "text") {
      if (text.value.trim()) shapes.push({ tool: "text", colour: colour.value, points: [point], text: text.value });
      else text.focus();
    } else open = { tool: tool(), colour: colour.value, points: [point, point] };
    show();
  }
  function move(point) {
    if (!open) return;
    if (open.tool === "pen") open.points.push(point);
    else open.points[1] = point;
    show();
  }
  function end() {
    if (open) shapes.push(open);
    open = null;
    show();
  }
  function takeBack() {
    shapes.pop();
    show();
    if (undo.disabled) canvas.focus();
  }

  const pointOf = ({ offsetX, offsetY }) => [(offsetX * canvas.width) / canvas.clientWidth, (offsetY * canvas.height) / canvas.clientHeight];
  canvas.onpointerdown = (event) => {
    if (event.button) return;
    mark = null;
    canvas.setPointerCapture(event.pointerId);
    // Before the focus goes to the canvas: a text that is missing takes it.
    event.preventDefault();
    begin(pointOf(event));
  };
  canvas.onpointermove = (event) => move(pointOf(event));
  canvas.onpointerup = end;
  canvas.onpointercancel = () => {
    open = null;
    show();
  };
  canvas.onkeydown = (event) => {
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!step && event.key !== " ") return;
    event.preventDefault();
    mark ??= [canvas.width / 2, canvas.height / 2];
    if (step) {
      const by = (side / 100) * (event.shiftKey ? 8 : 1);
      mark = [canvas.width, canvas.height].map((most, axis) => Math.min(most, Math.max(0, mark[axis] + step[axis] * by)));
      move(mark);
      return show();
    }
    if (open) end();
    else begin(mark);
    state.textContent = open ? _("Shape begun") : _("Shape drawn");
  };
  tools.onchange = () => (text.hidden = tool() !== "text");
  undo.onclick = takeBack;
  dialog.onkeydown = (event) => {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target === text) return;
    event.preventDefault();
    if (shapes.length) takeBack();
  };

  document.body.append(dialog);
  show();
  dialog.showModal();
  const drawn = await new Promise((resolve) => {
    const leave = () => (!shapes.length || confirm(_("Discard the drawing?"))) && resolve(null);
    dialog.oncancel = (event) => {
      event.preventDefault();
      leave();
    };
    // Browsers may close it without asking.
    dialog.onclose = () => resolve(null);
    cancel.onclick = leave;
    done.onclick = () => {
      [open, mark] = [null, null];
      show();
      if (shapes.length) canvas.toBlob(resolve, file.type, 0.92);
      else resolve(null);
    };
  });
  dialog.remove();
  return drawn && new File([drawn], file.name, { type: drawn.type, lastModified: Date.now() });
}
