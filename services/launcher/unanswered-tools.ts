import { type DescMethod, type FileRegistry, hasOption } from "@bufbuild/protobuf";
import { tool } from "#proto/mcp/v1/tool_pb.js";
import { keyOf } from "../shared/rpc/in-process.js";
import { type ServiceName, serviceOf } from "../shared/rpc/service.js";

/** What is wrong, in one line, where a tool of a service that runs here has no method; undefined where all have. */
export function unansweredTool(
  image: FileRegistry,
  services: readonly ServiceName[],
  methods: readonly DescMethod[],
): string | undefined {
  const answered = new Set(methods.map(keyOf));
  for (const desc of image) {
    if (desc.kind !== "service") continue;
    for (const method of desc.methods) {
      const service = serviceOf(method);
      if (!hasOption(method, tool) || service === undefined || !services.includes(service)) continue;
      if (!answered.has(keyOf(method))) return `${keyOf(method)} is a tool that ${service} does not implement`;
    }
  }
  return undefined;
}
