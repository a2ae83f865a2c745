import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { loadFolder, loadModule } from "../../../../services/shared/process/folder.js";

const folder = mkdtempSync(join(tmpdir(), "folder-"));
const url = pathToFileURL(`${folder}/`);
afterAll(() => rmSync(folder, { recursive: true }));

for (const name of ["b", "a"]) {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, `${name}.ts`), `export const name: string = "${name}";\n`);
  writeFileSync(join(folder, name, "kind.ts"), `export const name: string = "the ${name}";\n`);
}
writeFileSync(join(folder, "c.d.ts"), "export {};\n");
writeFileSync(join(folder, "notes.md"), "no module\n");

interface Named {
  readonly name: string;
}

test("every module of a folder is loaded, by name", async () => {
  expect((await loadFolder<Named>(url)).map(({ name }) => name)).toEqual(["a", "b"]);
});

test("one file of every folder is loaded, by the folder's name", async () => {
  expect((await loadFolder<Named>(url, "kind.js")).map(({ name }) => name)).toEqual(["the a", "the b"]);
});

test("a module that is not there is an error that names it", async () => {
  await expect(loadModule(new URL("d.js", url))).rejects.toThrow("d.ts");
});

test("the same holds under tsx", () => {
  const own = new URL("../../../../services/shared/process/folder.ts", import.meta.url).href;
  const program = `import { loadFolder } from "${own}";
    console.log((await loadFolder(new URL("${url.href}"), "kind.js")).map(({ name }) => name).join());`;
  const said = execFileSync(process.execPath, ["--import=tsx", "--input-type=module", "-e", program], {
    encoding: "utf8",
  });
  expect(said.trim()).toBe("the a,the b");
});
