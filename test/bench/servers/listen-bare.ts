import uws from "uWebSockets.js";

/** An answer that µWebSockets.js alone gives. */
export interface BareAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** In base64. */
  readonly body: string;
  /** Puts the id of each request in the place of the answer's, for a client that checks it. */
  readonly answersId?: boolean;
  /** If set, each request is read as far as a server that knows its callers must: this value of Authorization, and its message. */
  readonly authorization?: string;
}

/** Texts of the statuses that are sent; others are sent without one. */
const STATUS: Readonly<Record<number, string>> = { 200: "200 OK", 401: "401 Unauthorized", 404: "404 Not Found" };

const ID_NAME = '"id":';
const ID = /"id":(\d+)/;

/** Whether a message asks for something. */
function asks(message: string): boolean {
  return typeof (JSON.parse(message) as { method?: unknown }).method === "string";
}

/**
 * Reads each request to its end and sends the same bytes.
 *
 * @param first what is done for each request before it is answered.
 * @returns the port.
 */
export function listenBare(
  { status, headers, body, answersId = false, authorization }: BareAnswer,
  first?: () => Promise<void>,
): Promise<number> {
  const bytes = Buffer.from(body, "base64");
  const line = STATUS[status] ?? String(status);
  // Ids of objects are texts: the only number by this name is that of the message.
  const own = answersId ? ID.exec(bytes.toString("latin1")) : null;
  const at = own === null ? -1 : own.index + ID_NAME.length;
  const before = bytes.subarray(0, at);
  const after = bytes.subarray(at + (own?.[1] ?? "").length);
  const known = authorization === undefined ? undefined : new Set([authorization]);
  const app = uws.App();
  app.any("/*", (res, req) => {
    const isKnown = known?.has(req.getHeader("authorization"));
    let request = "";
    let isGone = false;
    res.onAborted(() => {
      isGone = true;
    });
    res.onData((chunk, last) => {
      if (at !== -1 || known !== undefined) request += Buffer.from(chunk).toString("latin1");
      if (!last) return;
      if (known !== undefined && !(isKnown && asks(request))) return void res.close();
      const answer = at === -1 ? bytes : Buffer.concat([before, Buffer.from(ID.exec(request)?.[1] ?? "1"), after]);
      const send = (): void => {
        if (isGone) return;
        res.cork(() => {
          res.writeStatus(line);
          for (const [name, value] of headers) res.writeHeader(name, value);
          res.end(answer);
        });
      };
      if (first === undefined) send();
      else void first().then(send);
    });
  });
  return new Promise((resolve, reject) => {
    app.listen("127.0.0.1", 0, (socket) => {
      if (socket === false) reject(new Error("no port"));
      else resolve(uws.us_socket_local_port(socket as never));
    });
  });
}
