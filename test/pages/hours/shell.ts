import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../support/foreign.js";
import { type Program, startProgram } from "../../support/program.js";

/** A command of a page; `{NAME}` stands for what an earlier command kept. */
export interface Command {
  readonly run: string;
  /** What later commands use of the output: the first group, by name. */
  readonly keeps?: Readonly<Record<string, RegExp>>;
}

/** A command, or a stop or start of the service, which the page says in these words. */
export type Step = string | Command | { readonly stop: string } | { readonly start: string };

/** Where the page says that the service keeps its files. */
const SHOWN = { folder: "/srv/sallyport", url: "http://127.0.0.1:8080" };
const CLI = `cli() { "${process.execPath}" dist/clients/cli/main.js "$@"; }`;

/** What a shell shows that runs the steps at a service of its own, on a first start. */
export async function shown(steps: readonly Step[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "sallyport-page-"));
  const dataDir = join(folder, "data");
  let program: Program = await startProgram({ dataDir });
  const kept = new Map<string, string>();
  const parts: string[] = [];
  const hide = (text: string): string =>
    inPlaceOf(inPlaceOf(text, folder, SHOWN.folder), program.baseUrl, SHOWN.url).replace(
      /(slp_[A-Za-z0-9]{12}_)[\w-]+/g,
      "$1…",
    );
  try {
    for (const step of steps) {
      if (typeof step === "object" && "stop" in step) {
        await program.stop();
        parts.push(`(${step.stop})`);
      } else if (typeof step === "object" && "start" in step) {
        program = await startProgram({ dataDir });
        parts.push(`(${step.start})`);
      } else {
        const { run: line, keeps = {} } = typeof step === "string" ? { run: step } : step;
        const command = line.replace(/\{([A-Z_]+)\}/g, (_, name: string) => kept.get(name) ?? missing(name, line));
        const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", DATA_DIR: dataDir, FOLDER: folder };
        const real = command.replaceAll(SHOWN.folder, folder);
        const { code, stdout, stderr } = await run("bash", ["-c", `${CLI}\n${real}`], { env });
        const output = stdout + stderr;
        for (const [name, pattern] of Object.entries(keeps))
          kept.set(name, pattern.exec(output)?.[1] ?? missing(name, output));
        const failed = code === 0 ? [] : [`(exit code ${code})`];
        parts.push([`$ ${hide(command)}`, hide(output.trimEnd()), ...failed].filter((one) => one !== "").join("\n"));
      }
    }
    return parts.join("\n\n");
  } finally {
    await program.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The text with one word instead of another. In a table, the cell keeps its width, so that the columns stay aligned. */
export function inPlaceOf(text: string, from: string, to: string): string {
  const [before = "", ...parts] = text.split(from);
  return parts.reduce((done, part) => {
    const [found, cell, padding] = /^(\S*(?: \S+)*)( {2,})/.exec(part) ?? [];
    if (found === undefined || cell === undefined || padding === undefined) return done + to + part;
    const width = Math.max(2, padding.length + from.length - to.length);
    return done + to + cell + " ".repeat(width) + part.slice(found.length);
  }, before);
}

function missing(name: string, where: string): never {
  throw new Error(`no ${name} in: ${where}`);
}

/** What a shell showed with what varies masked: ids, times, ports, sizes and the width of columns. */
export function masked(page: string): string {
  return page
    .replace(/before-restore-[\w-]+/g, "before-restore-TIME")
    .replace(/\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?Z?/g, "TIME")
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "ID")
    .replace(/\b(?=[A-Za-z]*[A-Z0-9])[A-Za-z0-9]{12}\b/g, "KEY")
    .replace(/slp_[A-Za-z0-9]{12}_/g, "slp_KEY_")
    .replace(/127\.0\.0\.1:\d+/g, "ADDRESS")
    .replace(/\b\d+ MiB/g, "SIZE")
    .replace(/^bytes +\d+$/gm, "bytes SIZE")
    .replace(/\blocal:\S+/g, "local:ACCOUNT")
    .replace(/[ \t]+/g, " ")
    .replace(/ $/gm, "");
}
