/** The page's files by the path under which the server gives them out. Browsers get the modules without their types. */

// @ts-expect-error: the text, not the module
import actions from "./actions.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import api from "./api.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import app from "./app.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import charts from "./charts.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import dialog from "./dialog.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import dom from "./dom.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import format from "./format.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import graph from "./graph.ts" with { type: "text" };
import icon from "./icon.svg" with { type: "text" };
import html from "./index.html" with { type: "text" };
// @ts-expect-error: the text, not the module
import keys from "./keys.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import live from "./live.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import parts from "./parts.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import route from "./route.ts" with { type: "text" };
import base from "./style/base.css" with { type: "text" };
import controls from "./style/controls.css" with { type: "text" };
import dialogs from "./style/dialogs.css" with { type: "text" };
import figures from "./style/figures.css" with { type: "text" };
import frame from "./style/frame.css" with { type: "text" };
import narrow from "./style/narrow.css" with { type: "text" };
import nowStyle from "./style/now.css" with { type: "text" };
import pieces from "./style/pieces.css" with { type: "text" };
import runStyle from "./style/run.css" with { type: "text" };
import tables from "./style/tables.css" with { type: "text" };
// @ts-expect-error: the text, not the module
import theme from "./theme.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import viewJournal from "./view-journal.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import viewLists from "./view-lists.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import viewNow from "./view-now.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import viewRun from "./view-run.ts" with { type: "text" };
// @ts-expect-error: the text, not the module
import viewStages from "./view-stages.ts" with { type: "text" };

/** In this order: later ones change earlier ones. */
const STYLES = [base, frame, pieces, controls, nowStyle, runStyle, figures, dialogs, tables, narrow];

export interface PageFile {
  type: string;
  body: string;
}

const MODULES: Record<string, unknown> = {
  actions,
  api,
  app,
  charts,
  dialog,
  dom,
  format,
  graph,
  keys,
  live,
  parts,
  route,
  theme,
  "view-journal": viewJournal,
  "view-lists": viewLists,
  "view-now": viewNow,
  "view-run": viewRun,
  "view-stages": viewStages,
};

/** Modules name each other with their ending, so that is also how the server has to call them. */
export function pageFiles(): Map<string, PageFile> {
  const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser" });
  const files = new Map<string, PageFile>([
    ["/", { type: "text/html; charset=utf-8", body: String(html) }],
    ["/page/style.css", { type: "text/css; charset=utf-8", body: STYLES.join("\n") }],
    ["/page/icon.svg", { type: "image/svg+xml", body: String(icon) }],
  ]);
  for (const [name, text] of Object.entries(MODULES)) {
    const body = transpiler.transformSync(String(text));
    files.set(`/page/${name}.ts`, { type: "text/javascript; charset=utf-8", body });
  }
  return files;
}
