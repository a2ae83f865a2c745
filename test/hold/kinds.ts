import { GRPC_KINDS } from "./grpc/kinds.js";
import type { Hostile } from "./hostile.js";
import { HTTP_KINDS } from "./http/kinds.js";

/** Every kind of hostile connection, by its name: "http: says nothing". */
export const KINDS: Readonly<Record<string, Hostile>> = Object.fromEntries([
  ...Object.entries(HTTP_KINDS).map(([name, hostile]) => [`http: ${name}`, hostile]),
  ...Object.entries(GRPC_KINDS).map(([name, hostile]) => [`grpc: ${name}`, hostile]),
]);
