/** How the console looks. */
export type Theme = "light" | "dark";

const stored = () => localStorage.getItem("theme") as Theme | null;

/** The theme that was chosen here, else that of the system. */
export const theme = (): Theme => stored() ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

/** Has the page look so. */
export function showTheme(now: Theme): void {
  document.documentElement.dataset.theme = now;
}

/** Chooses a theme, for this browser. */
export function setTheme(next: Theme): void {
  localStorage.setItem("theme", next);
  showTheme(next);
}
