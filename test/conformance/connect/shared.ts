import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { contentTypeUnaryProto } from "@connectrpc/connect/protocol-connect";
import { type HeardLane, LOCAL_HOST } from "../../../services/shared/rpc/lane/announcement.js";
import { headersOf, Requests } from "../../../services/shared/rpc/lane/framing.js";
import { callRecord } from "../../../services/shared/rpc/lane/records.js";
import { SharedSocket } from "../../../services/shared/rpc/lane/shared-socket.js";
import { handshake } from "../../../services/shared/rpc/lane/websocket.js";

/** Opens a port whose calls go over the connection of a lane that calls share. Gives the port. */
export async function openSharing(lane: HeardLane): Promise<number> {
  const shared = await new Promise<SharedSocket>((resolve, reject) => {
    const socket: SharedSocket = new SharedSocket(lane, handshake(new Requests(lane).end), {
      opened: () => resolve(socket),
      closed: () => reject(new Error("the lane has closed the connection")),
    });
  });
  const server = createServer(async (request, response) => {
    const { headers, url: path = "" } = request;
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const said = (name: string): string => String(headers[name] ?? "");
    const head = { path, assertion: said("x-caller"), authorization: "", traceparent: said("traceparent") };
    const call = callRecord({ ...head, timeout: said("connect-timeout-ms") }, Buffer.concat(pieces)) as Buffer;
    const id = shared.send(call, {
      answered(answer, body) {
        const { status, isMessage } = answer;
        const found = isMessage ? { "content-type": contentTypeUnaryProto } : Object.fromEntries(headersOf(answer));
        response.writeHead(status, found).end(body);
      },
      lost: () => response.destroy(),
    });
    response.on("close", () => {
      if (!response.writableFinished) shared.takeBack(id);
    });
  });
  await once(server.listen(0, LOCAL_HOST), "listening");
  return (server.address() as AddressInfo).port;
}
