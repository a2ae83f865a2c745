import { expect, test } from "vitest";
import { createScrub, shownUrl } from "../../../clients/load/secrets.js";

test("secrets are replaced as they are, and as URLs and JSON encode them", () => {
  const scrub = createScrub(["slp_one/two", 'a"quoted"secret', "slp_one/two/three", "abc"]);
  expect(scrub("Bearer slp_one/two is wrong")).toBe("Bearer [hidden] is wrong");
  expect(scrub("?k=slp_one%2Ftwo")).toBe("?k=[hidden]");
  expect(scrub('{"said":"a\\"quoted\\"secret"}')).toBe('{"said":"[hidden]"}');
  expect(scrub("slp_one/two/three")).toBe("[hidden]");
  expect(scrub("abc stays: it is too short to be a secret")).toContain("abc stays");
});

test("a secret that was cut at the end is replaced, and a terminal obeys no word of a server", () => {
  const scrub = createScrub(["slp_0123456789abcdef"]);
  expect(scrub("no key slp_0123456")).toBe("no key [hidden]");
  expect(scrub("no key slp_")).toBe("no key slp_");
  expect(scrub("\u001b[2Jgone\r\n\u009b1m")).toBe(" [2Jgone   1m");
});

test("a URL is shown without user, password and secret parameters", () => {
  const url = new URL("https://ana:pass@x.example/mcp?toolsets=basic&api_key=k1&access_token=t1");
  const shown = shownUrl(url);
  expect(shown).toContain("https://x.example/mcp?toolsets=basic");
  expect(shown).not.toMatch(/ana|pass@|k1|t1/);
});
