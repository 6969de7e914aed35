/** The keyboard: every page and every item without a mouse. */
import { Dialog } from "./parts.tsx";
import { go, PAGES } from "./route.ts";
import { closeDialog, nextTheme, openDialog } from "./state.ts";

const GOES_MS = 1500;
let going = 0;

export function onKey(event: KeyboardEvent): void {
  const { target, key } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (target instanceof HTMLElement && target.closest("input, textarea, select, [contenteditable]")) {
    if (key === "Escape") target.blur();
    return;
  }
  if (press(key)) event.preventDefault();
}

function press(key: string): boolean {
  const page = Date.now() - going < GOES_MS && PAGES.find((one) => one.key === key);
  going = key === "g" ? Date.now() : 0;
  if (page) go(page.name);
  else if (key === "j" || key === "k") move(key === "j" ? 1 : -1);
  else if (key === "t") nextTheme();
  else if (key === "?") showHelp();
  else if (key === "/") search();
  else return key === "g";
  return true;
}

function move(by: number): void {
  const items = [...document.querySelectorAll<HTMLElement>("#view [data-item]")];
  const at = items.findIndex((item) => item.contains(document.activeElement));
  const next = items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function search(): void {
  const field = document.querySelector<HTMLInputElement>("#view input[type=search]");
  if (field) field.focus();
  else go("journal");
}

const KEYS: [string[], string][] = [
  ...PAGES.map(({ key, title }): [string[], string] => [["g", key], title]),
  [["j"], "Next item"],
  [["k"], "Previous item"],
  [["Enter"], "Open it"],
  [["/"], "Search the journal"],
  [["t"], "Light, dark, or as the system"],
  [["Esc"], "Close, or leave a field"],
  [["?"], "This list"],
];

export const showHelp = () =>
  openDialog(
    <Dialog title="Keyboard">
      <dl class="keys">
        {KEYS.map(([keys, text]) => (
          <>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{text}</dd>
          </>
        ))}
      </dl>
      <div class="buttons">
        <button type="button" onClick={closeDialog}>
          Close
        </button>
      </div>
    </Dialog>,
  );
