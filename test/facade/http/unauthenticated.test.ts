import { afterEach, expect, test } from "vitest";
import type { FacadeOptions } from "../../../facade/facade.js";
import { modern, post } from "../support/client.js";
import { onEachEdge } from "../support/edges.js";
import { headerLines, type RawSocket, raw, requestText } from "../support/raw.js";
import { LIMITS, type Started } from "../support/start.js";

onEachEdge(({ start }) => {
  // Unauthenticated callers at an address have a rate; answers beyond it wait.
  // A request with a good key is not counted.

  const BURST = 4;
  const UNAUTHENTICATED = { burst: BURST, perSecond: 1e-6 };

  let server: Started;
  let sockets: RawSocket[] = [];

  afterEach(async () => {
    for (const { socket } of sockets) socket.destroy();
    sockets = [];
    await server.close();
  });

  async function begin(options: Partial<FacadeOptions> = {}): Promise<void> {
    server = await start({ limits: { ...LIMITS, unauthenticated: UNAUTHENTICATED }, ...options });
  }

  function open(bytes: string): RawSocket {
    const one = raw(server.port, bytes);
    sockets.push(one);
    return one;
  }

  const LIST = modern("tools/list");
  const TEXT = JSON.stringify(LIST.body);
  const LENGTH = `content-length: ${TEXT.length}`;
  const listed = (token: string, more: readonly string[] = []): string =>
    requestText("/base/mcp/cti", [...headerLines(LIST.headers, token), LENGTH, ...more], TEXT);
  const get = (path: string): string => requestText(path, ["host: 127.0.0.1"], "", "GET");

  const KINDS: readonly (readonly [string, string, string])[] = [
    ["bad tokens", listed("bad"), "401"],
    ["an address that is not there", get("/nothing"), "404"],
    ["a public document", get("/.well-known/oauth-protected-resource/base/mcp/cti"), "200"],
    ["probes", get("/healthz"), "200"],
    ["an rpc without a token", requestText("/base/rpc/a.B/C", ["host: 127.0.0.1", "content-length: 0"]), "501"],
  ];

  test.each(KINDS)("%s: answered all, beyond the rate one at a time", async (_what, text, status) => {
    await begin();
    const kept = open(text);
    for (let n = 1; n <= 2 * BURST; n++) {
      await expect.poll(() => kept.text().split(`HTTP/1.1 ${status}`).length).toBe(n + 1);
      if (n < 2 * BURST) kept.socket.write(text);
    }
    expect(kept.closed()).toBe(false);
    // What is sent before the answer has come is too much.
    await open(text.repeat(2)).ended;
  });

  test("a good key of an address whose rate is used up is served, and its connection goes on", async () => {
    await begin();
    for (let n = 0; n < 2 * BURST; n++) await open(listed("bad", ["connection: close"])).ended;
    const kept = open(listed("good"));
    for (let n = 1; n <= 2 * BURST; n++) {
      await expect.poll(() => kept.text().split("HTTP/1.1 200").length).toBe(n + 1);
      kept.socket.write(listed("good"));
    }
    expect(kept.closed()).toBe(false);
    expect((await post(`${server.url}/mcp/cti`, LIST.body, LIST.headers)).status).toBe(200);
  });

  test("who sends a thousand requests at once, beyond the rate, has sent the last ones in vain", async () => {
    await begin();
    const answers = await open(get("/nothing").repeat(1_000)).ended;
    expect(answers.split("HTTP/1.1 ").length - 1).toBeLessThanOrEqual(BURST + 1);
  });

  test("where there is no room to look at a key, that too is told when there is time", async () => {
    const inFlight = 4;
    await begin({ limits: { ...LIMITS, inFlight, unauthenticated: { burst: 1, perSecond: 1e-6 } } });
    let looked = (): void => undefined;
    server.keys.delay = new Promise((resolve) => {
      looked = resolve;
    });
    const isTold = (one: RawSocket): boolean => one.text().startsWith("HTTP/1.1 503");
    const asking = Array.from({ length: 3 * inFlight }, () => open(listed("unknown")));
    await expect.poll(() => asking.filter(isTold).length).toBe(asking.length - (inFlight * 3) / 4);
    await open(listed("unknown").repeat(2)).ended;
    looked();
  });

  test("behind a proxy the rate is that of its client, and the proxy's connection goes on", async () => {
    await begin({ proxies: 1 });
    const kept = open("");
    for (let n = 1; n <= 3 * BURST; n++) {
      kept.socket.write(listed("bad", ["x-forwarded-for: 192.0.2.1"]));
      await expect.poll(() => kept.text().split("HTTP/1.1 401").length).toBe(n + 1);
    }
    expect(kept.text()).not.toMatch(/^connection: close/im);
  });

  test.each([
    ["of a length that it tells", "content-length: 1000000000", "x"],
    ["in chunks", "transfer-encoding: chunked", "10000\r\n"],
  ])(
    "a body without end %s is not read on once it is refused, and its sender hears why",
    async (_what, framing, first) => {
      await begin({ limits: LIMITS });
      const piece = first === "x" ? "x".repeat(1 << 16) : `10000\r\n${"x".repeat(1 << 16)}\r\n`;
      const { socket, text } = open(requestText("/nothing", ["host: 127.0.0.1", framing]));
      let taken = 0;
      const more = (): void => {
        socket.write(piece, (error) => {
          taken++;
          if (!error) more();
        });
      };
      more();
      await expect.poll(text).toMatch(/^HTTP\/1.1 404[\s\S]*connection: close/i);
      let before = -1;
      const stopped = (): boolean => {
        const same = taken === before;
        before = taken;
        return same;
      };
      await expect.poll(stopped, { interval: 200 }).toBe(true);
      expect(socket.writableLength).toBeGreaterThan(0);
    },
  );
});
