/// <reference lib="dom" />
/** Light, dark, or as the system has it: remembered by this browser. */
import { announce, byId } from "./dom.ts";

const NAME = "pawl-theme";
const CHOICES = ["system", "light", "dark"] as const;
type Theme = (typeof CHOICES)[number];

export function startTheme(): void {
  show(remembered());
  byId("theme").addEventListener("click", nextTheme);
}

export function nextTheme(): void {
  const next = CHOICES[(CHOICES.indexOf(remembered()) + 1) % CHOICES.length]!;
  try {
    localStorage.setItem(NAME, next);
  } catch {
    // a browser that keeps nothing still may show it
  }
  show(next);
  announce(`Theme: ${next}`);
}

function remembered(): Theme {
  try {
    const said = localStorage.getItem(NAME);
    return CHOICES.find((choice) => choice === said) ?? "system";
  } catch {
    return "system";
  }
}

function show(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
  byId("theme-name").textContent = theme === "system" ? "System" : theme === "light" ? "Light" : "Dark";
}
