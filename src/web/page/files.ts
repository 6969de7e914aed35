/** The page's files by the path under which the server serves them; `npm run build` bundles script and style. */
import script from "../../../bin/page-script.txt" with { type: "text" };
import style from "../../../bin/page-style.txt" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import html from "./index.html" with { type: "text" };

export const pageFiles = (): Map<string, { type: string; body: string }> =>
  new Map([
    ["/", { type: "text/html; charset=utf-8", body: String(html) }],
    ["/page/app.js", { type: "text/javascript; charset=utf-8", body: script }],
    ["/page/style.css", { type: "text/css; charset=utf-8", body: style }],
    ["/page/icon.svg", { type: "image/svg+xml", body: String(icon) }],
  ]);
