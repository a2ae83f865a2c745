/** Where the style of the pages is, below the base URL. */
export const STYLE_PATH = "/oauth/pages.css";

/** The style of the pages, in the colours of the console. */
export const STYLE = `:root {
  color-scheme: light dark;
  --bg: #f6f7f8; --surface: #fff; --text: #12191c; --muted: #4d5a60; --line: #dfe4e6; --edge: #858f94;
  --accent: #0b6663; --accent-hover: #095351; --on-accent: #fff; --warn: #84500a; --warn-bg: #fdf0d8; --bad: #b42318; --bad-bg: #fde8e6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --bg: #0d1214; --surface: #151b1e; --text: #e8edee; --muted: #9eabb0; --line: #263034; --edge: #66747a;
    --accent: #4fd0c4; --accent-hover: #74ddd3; --on-accent: #052120; --warn: #f0bd68; --warn-bg: #35280f; --bad: #ff9d94; --bad-bg: #3d1a17;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--text); font: 400 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 460px; margin: 8vh auto; padding: 32px; background: var(--surface); border: 1px solid var(--line); border-radius: 14px; }
h1 { margin: 0 0 16px; font-size: 22px; font-weight: 600; line-height: 1.3; letter-spacing: -.015em; overflow-wrap: anywhere; }
p, dl, ul { margin: 0 0 16px; overflow-wrap: anywhere; }
.brand { margin: 0 0 4px; color: var(--muted); font-weight: 600; }
.faint { color: var(--muted); font-size: 13.5px; }
.warn, .bad { padding: 10px 12px; border-radius: 6px; }
.warn { background: var(--warn-bg); color: var(--warn); }
.bad { background: var(--bad-bg); color: var(--bad); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 16px; }
dt { color: var(--muted); }
dd { margin: 0; overflow-wrap: anywhere; }
label { display: block; margin: 0 0 12px; font-weight: 550; }
label.choice { display: flex; gap: 8px; align-items: baseline; font-weight: 400; margin: 0 0 8px; }
input[type=email], input[type=password] { display: block; width: 100%; margin-top: 4px; height: 40px; padding: 0 12px; font: inherit; color: inherit; background: var(--bg); border: 1px solid var(--edge); border-radius: 6px; }
fieldset { margin: 0 0 16px; padding: 0; border: 0; }
legend { padding: 0; margin-bottom: 8px; font-weight: 550; }
.buttons { display: flex; gap: 12px; flex-wrap: wrap; margin: 20px 0 16px; }
form:last-child .buttons { margin-bottom: 0; }
button, .button { display: inline-flex; align-items: center; justify-content: center; height: 40px; padding: 0 18px; font: inherit; font-weight: 550; color: var(--text); background: var(--surface); border: 1px solid var(--edge); border-radius: 6px; cursor: pointer; text-decoration: none; }
button.main { color: var(--on-accent); background: var(--accent); border-color: transparent; }
button.main:hover { background: var(--accent-hover); }
button.link { height: auto; padding: 0; border: 0; background: none; color: var(--accent); font-weight: 400; text-decoration: underline; }
input.given { color: var(--muted); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
`;
