import { setFlagsFromString } from "node:v8";

/**
 * From now on V8 allocates every new object among the new ones. By itself it decides once of a place in the code, by how
 * many of its objects outlive a collection, to allocate all others from there among the old. What a call makes outlives a
 * collection only if the call waits then, such as for its record in the audit. A façade over a service that does nothing
 * decided so in half of its starts: messages of every call filled the old space, and a collection of what is new took
 * twice as long. A start makes what stays, and is left to V8.
 */
export function allocateAsNew(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}
