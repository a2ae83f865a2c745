import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import { connectClient } from "../node/connect.js";
import type { Session } from "./session.js";

/** A typed client of a service behind the façade, as whoever is signed in. */
export function clientOf<S extends DescService>({ url, apiKey }: Session, service: S): Client<S> {
  // Whoever sits at the shell is told at once, and tries again or not.
  return connectClient(service, { baseUrl: `${url}/rpc`, apiKey, httpVersion: "1.1", timeoutMs: 0, retries: 0 });
}
