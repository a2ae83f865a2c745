import { afterAll, beforeAll, expect, test } from "vitest";
import { acceptedEncodings } from "../../facade/http/encodings.js";
import { type Answer, legacy, modern, post } from "./support/client.js";
import { type Started, start } from "./support/start.js";

// A list is sent in the coding that the client takes, is the same in each, and has a tag that tells one list from another.

let server: Started;
beforeAll(async () => {
  server = await start();
});
afterAll(() => server.close());

const eras = { modern, legacy };
type Era = keyof typeof eras;

function list(era: Era, id: string | number, encodings: string | undefined, query = ""): Promise<Answer> {
  const { body, headers } = eras[era]("tools/list", {}, id);
  return post(`${server.url}/mcp/cti${query}`, body, { ...headers, "accept-encoding": encodings });
}

/** The list, once it is prepared in a coding: it is sent plain while it is not. */
async function listIn(era: Era, id: string | number, encoding: string): Promise<Answer> {
  let answer = await list(era, id, encoding);
  await expect
    .poll(async () => {
      answer = await list(era, id, encoding);
      return answer.headers.get("content-encoding");
    })
    .toBe(encoding);
  return answer;
}

test.each(["modern", "legacy"] as const)(
  "a list of the %s era is the same in each coding, whatever the id",
  async (era) => {
    const ids = [1, "", "a", 'ä\u0000"\\', "日本語", "i".repeat(8_192), "\u0000".repeat(8_192)];
    for (const id of ids) {
      const plain = await list(era, id, "identity");
      expect(plain.headers.get("content-encoding")).toBeNull();
      expect(plain.json).toMatchObject({ id, result: { tools: expect.any(Array) } });
      for (const encoding of ["br", "gzip"]) {
        const answer = await listIn(era, id, encoding);
        expect(answer.text).toBe(plain.text);
        expect(answer.headers.get("etag")).toBe(plain.headers.get("etag"));
        expect(answer.headers.get("cache-control")).toBe("no-store");
        if (String(id).length < 10)
          expect(Number(answer.headers.get("content-length"))).toBeLessThan(plain.text.length / 3);
      }
    }
  },
);

test("another list has another tag", async () => {
  const [all, some] = [await list("modern", 1, undefined), await list("modern", 1, undefined, "?readonly=1")];
  expect(all.headers.get("etag")).toMatch(/^W\/"[0-9a-z]+-[0-9a-z]+"$/);
  expect(some.headers.get("etag")).not.toBe(all.headers.get("etag"));
});

test("a client that takes events alone gets its list as one, plain", async () => {
  const { body, headers } = modern("tools/list");
  const answer = await post(`${server.url}/mcp/cti`, body, { ...headers, accept: "text/event-stream" });
  expect(answer.headers.get("content-type")).toBe("text/event-stream");
  expect(answer.headers.get("content-encoding")).toBeNull();
});

test.each([
  ["gzip, deflate, br", ["br", "gzip"]],
  ["gzip, deflate", ["gzip"]],
  ["x-gzip", ["gzip"]],
  ["*", ["br", "gzip"]],
  ["*, br;q=0", ["gzip"]],
  ["GZIP;q=0.5, br;q=0.0", ["gzip"]],
  ["br ; q=1, gzip; q=0", ["br"]],
  ["identity, brotli, gzipped", []],
  ["", []],
  [undefined, []],
  [`${"a,".repeat(100)}gzip`, ["gzip"]],
  [`${"a,".repeat(8_000)}gzip`, []],
])("of Accept-Encoding %s the codings are %s", (header, codings) => {
  for (let again = 0; again < 2; again++) expect(acceptedEncodings(header)).toEqual(codings);
});
