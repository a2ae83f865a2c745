import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
// @ts-expect-error plain JavaScript, since it runs before anything is installed
import { edgeNote, GLIBC_OF_ABI, here, unsupportedNode } from "../scripts/nodes.mjs";

const PACKAGE = join(import.meta.dirname, "../node_modules/uWebSockets.js");

test("what is said of µWebSockets.js before it is installed is true of the version that is", () => {
  const found = readdirSync(PACKAGE).flatMap((file) => {
    const abi = /^uws_linux_x64_(\d+)\.node$/.exec(file)?.[1];
    if (abi === undefined || Number(abi) < 115) return [];
    const minors = readFileSync(join(PACKAGE, file), "latin1").matchAll(/\0GLIBC_2\.(\d+)/g);
    return [[abi, `2.${Math.max(...[...minors].map(([, minor]) => Number(minor)))}`]];
  });
  expect(Object.fromEntries(found)).toEqual(GLIBC_OF_ABI);
});

test.each([
  ["18.20.0", false],
  ["20.18.3", false],
  ["20.19.0", true],
  ["21.7.3", false],
  ["22.11.0", false],
  ["22.12.0", true],
  ["24.0.0", true],
  ["26.10.0", true],
])("Node %s: supported is %s, else it is said in one line", (version, supported) => {
  const said = unsupportedNode(version);
  expect(said).toEqual(supported ? undefined : expect.stringMatching(/^Node .* is not supported: install .*$/));
});

test.each([
  [{ node: "20.19.0", abi: "115", system: "linux-x64", glibc: "2.36" }, undefined],
  [{ node: "22.23.3", abi: "127", system: "linux-x64", glibc: "2.38" }, undefined],
  [{ node: "22.23.3", abi: "127", system: "darwin-arm64", glibc: undefined }, undefined],
  [{ node: "22.23.3", abi: "127", system: "linux-x64", glibc: "2.36" }, /needs glibc 2.38, and this system has 2.36/],
  [{ node: "20.19.0", abi: "115", system: "linux-x64", glibc: undefined }, /has another C library/],
  [{ node: "26.10.0", abi: "147", system: "linux-x64", glibc: "2.41" }, /no binary for Node 26.10.0 on linux-x64/],
])("%j is told which edge will serve", (system, said) => {
  if (said === undefined) expect(edgeNote(system)).toBeUndefined();
  else expect(edgeNote(system)).toMatch(said);
});

test("this system is known", () => {
  expect(here()).toMatchObject({ node: process.versions.node, system: `${process.platform}-${process.arch}` });
});
