import { once } from "node:events";
import { Agent, createServer, request as requestOf } from "node:http";
import type { AddressInfo } from "node:net";

/** What goes past a method: the headers of its request, and those that its answer is to have. */
export interface Side {
  readonly headers: Readonly<Record<string, readonly string[]>>;
  readonly answer: (readonly [string, string])[];
}

/** Where a door leads, and with which headers besides those that come. */
export interface Target {
  readonly host: string;
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

const OF_CONNECTION = /^(?:connection|keep-alive|transfer-encoding|host)$/i;

/** Opens a port that leads to a server. A call finds its side by its traceparent. Gives the port. */
export async function openDoor(target: Target, sides: Map<string, Side>): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  let calls = 0;
  const door = createServer((request, response) => {
    const id = `call-${calls++}`;
    const headers = grouped(request.rawHeaders);
    const side: Side = { headers, answer: [] };
    sides.set(id, side);
    const own = Object.entries(headers).filter(([name]) => !OF_CONNECTION.test(name));
    const onward = requestOf({
      host: target.host,
      port: target.port,
      agent,
      method: request.method,
      path: request.url,
      headers: Object.fromEntries([
        ...own.map(([name, values]) => [name, name === "content-length" ? values[0] : values] as const),
        ...Object.entries(target.headers),
        ["traceparent", id],
      ]) as Record<string, string>,
    });
    onward.on("response", (answer) => {
      sides.delete(id);
      const found = Object.entries(grouped(answer.rawHeaders)).filter(([name]) => !OF_CONNECTION.test(name));
      const lines = found.flatMap(([name, values]) => values.map((value) => [name, value] as const));
      response.writeHead(answer.statusCode as number, [...lines, ...side.answer].flat());
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => {
      if (!response.writableFinished) onward.destroy();
    });
    request.pipe(onward);
  });
  await once(door.listen(0, target.host), "listening");
  return (door.address() as AddressInfo).port;
}

function grouped(raw: readonly string[]): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (let i = 0; i < raw.length; i += 2) {
    const name = (raw[i] as string).toLowerCase();
    headers[name] ??= [];
    headers[name].push(raw[i + 1] as string);
  }
  return headers;
}
