import { expect, test } from "vitest";
import { tools } from "../../../clients/cli/commands/tools.js";
import { EXIT } from "../../../clients/cli/failures.js";
import { NOUNS } from "../../../clients/cli/nouns.js";
import { readRequest } from "../../../clients/cli/program.js";
import { failureOf } from "../../../clients/cli/reasons.js";
import { signIn } from "../../../clients/cli/session.js";
import type { Role } from "../../../services/shared/roles/role.js";

const verb = tools.find((one) => one.verb === "rights")!;

/** On a machine where no service ever ran. */
async function rights(...argv: string[]): Promise<Role & { readonly query: string }> {
  const request = await readRequest(["tools", "rights", ...argv], NOUNS);
  return (await verb.run(signIn(request!.signIn, { DATA_DIR: "/nonexistent" }), request!.input)) as never;
}

test("the boxes for one URL, with the tools that need them, the steps and the scopes of the key", async () => {
  const answer = await rights("aev", "--toolsets", "asset,finding", "--exclude", "delete_endpoint,delete_asset_group");
  expect(answer.query).toBe("?toolsets=asset,finding&exclude=delete_endpoint,delete_asset_group");
  const text = verb.shows!(answer);
  expect(text).toContain(
    "[x] Targets > Access assets > Manage assets (MANAGE_ASSETS)\n      for create_endpoint, update_endpoint",
  );
  expect(text).toContain("[+] Targets > Access assets (ACCESS_ASSETS)");
  expect(text).toContain("[!] (DELETE_FINDINGS)\n      for delete_finding");
  expect(text).toContain("scopes of the API key: aev:read, aev:write");
  expect(text).toMatch(/1\. Under Settings, Security, open Roles, tab Tenant/);
});

test("reading alone, a built-in role, tools without rights, and core", async () => {
  const reading = await rights("grc", "--readonly");
  expect(reading.scopes).toEqual(["grc:read"]);
  expect(reading.rights.every(({ id }) => id.startsWith("view_"))).toBe(true);
  expect(verb.shows!(reading)).toContain('Its own role "Reader" has all of them.');
  expect(verb.shows!(await rights("cti", "--toolsets", "account"))).toContain("these tools need no right");
  expect(verb.shows!(await rights("core"))).toContain("No platform is behind core");
  expect(await rights("cti", "--toolsets", "all")).toEqual(await rights("cti"));
});

test.each([
  [["nope"], /'nope' is invalid .* Allowed choices are cti, aev, grc, core/],
  [["cti", "--toolsets", "nope"], /"nope" is not a toolset of cti: its toolsets are account, .*, basic$/],
  [["grc", "--exclude", "nope"], /"nope" is not a toolset or tool of grc: its toolsets are /],
  [[], /missing required argument 'SERVER'/],
] as const)("%j is refused with what there is", async (argv, words) => {
  const failure = await rights(...argv).then(() => undefined, failureOf);
  expect(failure).toMatchObject({ exitCode: EXIT.usage });
  expect(failure?.message).toMatch(words);
});
