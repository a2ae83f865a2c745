import type { DescMethodUnary, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { expect } from "vitest";
import type { AevHarness } from "../../../../support/platforms/aev.js";

// The built-in platform asked directly, beside the tools, for the tests of what
// they read and write.

/** Somebody else's JSON, looked at as it is. */
// biome-ignore lint/suspicious/noExplicitAny: see above.
export type Json = any;

/** The tools and the platform behind them, as one person. */
export class Desk {
  constructor(
    readonly stack: AevHarness,
    readonly person: string,
    readonly tenant: string,
  ) {}

  /** What the platform answers to this person; its body. */
  async ask(method: string, route: string, body?: unknown): Promise<Json> {
    const { status, body: said } = await this.stack.ask(
      this.person,
      method,
      `/api/tenants/${this.tenant}${route}`,
      body,
    );
    expect({ route, status, ok: status < 300, said: status < 300 ? undefined : said }).toMatchObject({ ok: true });
    return said;
  }

  /** Every row of a search. */
  async rows(route: string): Promise<Json[]> {
    return (await this.ask("POST", route, { size: 1000 })).content;
  }

  /** Calls a tool in the tenant. */
  call<M extends DescMethodUnary>(method: M, args: MessageInitShape<M["input"]>): Promise<MessageShape<M["output"]>> {
    return this.stack.call(method, { tenantId: this.tenant, ...args } as never, this.person) as never;
  }
}

/** Every page of a list, one after the other. */
export async function everyPage(
  desk: Desk,
  method: DescMethodUnary,
  args: object = {},
  pageSize = 3,
): Promise<{ readonly rows: Json[]; readonly totals: number[] }> {
  const rows: Json[] = [];
  const totals: number[] = [];
  let pageToken = "";
  do {
    const reply: Json = await desk.call(method, { ...args, pageSize, pageToken } as never);
    rows.push(...(Object.values(reply).find(Array.isArray) as Json[]));
    totals.push(reply.totalSize);
    pageToken = reply.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(new Set(totals)).toEqual(new Set([rows.length]));
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
  return { rows, totals };
}
