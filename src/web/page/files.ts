/** The page's files by the path under which the server gives them out. */
import { bundle } from "./bundle.ts" with { type: "macro" };
import icon from "./icon.svg" with { type: "text" };
import html from "./index.html" with { type: "text" };

const SCRIPT = bundle("app.tsx");
const STYLE = bundle("style/index.css");

export const pageFiles = (): Map<string, { type: string; body: string }> =>
  new Map([
    ["/", { type: "text/html; charset=utf-8", body: String(html) }],
    ["/page/app.js", { type: "text/javascript; charset=utf-8", body: SCRIPT }],
    ["/page/style.css", { type: "text/css; charset=utf-8", body: STYLE }],
    ["/page/icon.svg", { type: "image/svg+xml", body: String(icon) }],
  ]);
