// One server under measurement: a façade over a service that does nothing, or
// µWebSockets.js alone with the bytes that it is sent first.

import uws from "uWebSockets.js";
import { readFileSync } from "node:fs";
import { clone, createFileRegistry, type FileRegistry, fromBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema, MethodDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { createFacade } from "../../facade/facade.js";
import { silentLog } from "../../services/shared/process/log.js";
import { mountInProcess } from "../../services/shared/rpc/in-process.js";
import { createKeys } from "../facade/support/credentials.js";
import { createWorld, fixtureMethods } from "../facade/support/services.js";
import { LIMITS } from "../facade/support/start.js";

/** Of the sources, from the root of the repository. */
const IMAGE = "test/conformance/gen/api.binpb";

/** Tools in the list, for about 60 KB of it. */
const TOOLS = 24;

/** The fixtures' image with one tool many times over. */
function imageOf(names: string[]): FileRegistry {
  const set = fromBinary(FileDescriptorSetSchema, readFileSync(IMAGE));
  const service = set.file.flatMap((file) => file.service).find(({ name }) => name === "SightingService");
  const echo = service?.method.find(({ name }) => name === "EchoSighting");
  if (service === undefined || echo === undefined) throw new Error("the fixtures have changed");
  for (let i = 0; names.length < TOOLS; i++) {
    const name = `EchoSighting${String.fromCharCode(65 + i)}`;
    service.method.push({ ...clone(MethodDescriptorProtoSchema, echo), name });
    names.push(name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, "_").toLowerCase());
  }
  return createFileRegistry(set);
}

async function facade(): Promise<number> {
  const keys = createKeys();
  const world = createWorld();
  const names = ["echo_sighting"];
  const image = imageOf(names);
  world.visible.set("*", names);
  keys.add("good", { scopes: new Set(["account", "cti:read"]) });
  const served = await createFacade({
    dispatch: mountInProcess(fixtureMethods(world, ["cti"]), { authenticator: keys.authenticator, log: silentLog }),
    self: { authorization: "Bearer facade" },
    credentials: keys,
    image,
    baseUrl: new URL("http://127.0.0.1"),
    serviceName: "Bench",
    version: "1.0.0",
    ready: async () => [],
    limits: LIMITS,
    log: silentLog,
  });
  return served.listen("127.0.0.1", 0);
}

function bare(bytes: Buffer): Promise<number> {
  const app = uws.App();
  app.post("/*", (res) => {
    res.onAborted(() => undefined);
    res.onData((_chunk, last) => {
      if (last) res.writeHeader("content-type", "application/json").writeHeader("cache-control", "no-store").end(bytes);
    });
  });
  return new Promise((resolve, reject) => {
    app.listen("127.0.0.1", 0, (socket) => {
      if (socket === false) reject(new Error("no port"));
      else resolve(uws.us_socket_local_port(socket as never));
    });
  });
}

/** What the parent asks for: to start, and the CPU time and memory so far. */
process.on("message", async (asked: { readonly bare?: string; readonly facade?: true; readonly usage?: true }) => {
  if (asked.usage) {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpu: user + system, rss: process.memoryUsage.rss() });
  } else {
    process.send?.({ port: asked.bare === undefined ? await facade() : await bare(Buffer.from(asked.bare, "base64")) });
  }
});
process.on("disconnect", () => process.exit());
