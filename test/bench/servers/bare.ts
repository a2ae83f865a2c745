// The floor: µWebSockets.js alone, which reads each request to its end and
// sends the same bytes, as a server that does nothing else can at best.

import uws from "uWebSockets.js";
import { serveAsAsked } from "./own.js";

/** The answer that it gives. */
export interface BareAnswer {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** In base64. */
  readonly body: string;
  /** Puts the id of each request in the place of the answer's, for a client that checks it. */
  readonly answersId?: boolean;
}

/** Texts of the statuses that are sent; others are sent without one. */
const STATUS: Readonly<Record<number, string>> = { 200: "200 OK", 401: "401 Unauthorized", 404: "404 Not Found" };

const ID_NAME = '"id":';
const ID = /"id":(\d+)/;

function listen({ status, headers, body, answersId = false }: BareAnswer): Promise<number> {
  const bytes = Buffer.from(body, "base64");
  const line = STATUS[status] ?? String(status);
  // Ids of objects are texts: the only number by this name is that of the message.
  const own = answersId ? ID.exec(bytes.toString("latin1")) : null;
  const at = own === null ? -1 : own.index + ID_NAME.length;
  const before = bytes.subarray(0, at);
  const after = bytes.subarray(at + (own?.[1] ?? "").length);
  const app = uws.App();
  app.any("/*", (res) => {
    let request = "";
    res.onAborted(() => undefined);
    res.onData((chunk, last) => {
      if (at !== -1) request += Buffer.from(chunk).toString("latin1");
      if (!last) return;
      const answer = at === -1 ? bytes : Buffer.concat([before, Buffer.from(ID.exec(request)?.[1] ?? "1"), after]);
      res.cork(() => {
        res.writeStatus(line);
        for (const [name, value] of headers) res.writeHeader(name, value);
        res.end(answer);
      });
    });
  });
  return new Promise((resolve, reject) => {
    app.listen("127.0.0.1", 0, (socket) => {
      if (socket === false) reject(new Error("no port"));
      else resolve(uws.us_socket_local_port(socket as never));
    });
  });
}

serveAsAsked(listen);
