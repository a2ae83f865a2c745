import type { MessageInitShape } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import type { ContentSchema } from "#proto/mcp/v1/tool_pb.js";
import { failedPrecondition } from "../../services/shared/rpc/errors.js";
import { type Method, serverStream, unary } from "../../services/shared/rpc/method.js";
import { ConformanceService } from "./gen/platform/conformance/v1/conformance_service_pb.js";

const PNG = base64Decode(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==",
);
const WAV = base64Decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=");
/** Longer than the shortest time between two notifications. */
const STEP_MS = 120;

type Block = MessageInitShape<typeof ContentSchema>;

const text = (value: string): Block => ({ block: { case: "text", value } });
const image: Block = { block: { case: "image", value: { data: PNG, mimeType: "image/png" } } };
const audio: Block = { block: { case: "audio", value: { data: WAV, mimeType: "audio/wav" } } };
const resource = (uri: string, mimeType: string, content: string): Block => ({
  block: { case: "resource", value: { uri, mimeType, text: content } },
});
const answering =
  (...content: Block[]) =>
  () => ({ content });

const { method } = ConformanceService;

/** What the tools of the suite answer; their texts are the suite's own. */
export const conformanceMethods: readonly Method[] = [
  unary(method.testSimpleText, answering(text("This is a simple text response for testing."))),
  unary(method.testImageContent, answering(image)),
  unary(method.testAudioContent, answering(audio)),
  unary(
    method.testEmbeddedResource,
    answering(resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")),
  ),
  unary(
    method.testMultipleContentTypes,
    answering(
      text("Multiple content types test:"),
      image,
      resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ),
  ),
  unary(method.testErrorHandling, () => {
    throw failedPrecondition("This tool intentionally returns an error for testing");
  }),
  serverStream(method.testToolWithProgress, async function* () {
    for (const done of [0, 50, 100]) {
      yield { event: { case: "progress" as const, value: { done, total: 100 } } };
      await new Promise((resolve) => setTimeout(resolve, STEP_MS));
    }
    yield { event: { case: "result" as const, value: { content: [text("done")] } } };
  }),
  unary(method.testXMcpHeader, answering(text("ok"))),
  unary(method.testStructured, () => ({ n: 1 })),
  unary(method.jsonSchema202012Tool, answering(text("ok"))),
  unary(method.testMissingCapability, answering(text("ok"))),
  serverStream(method.testStreamingElicitation, async function* () {
    yield { event: { case: "progress" as const, value: { done: 1, total: 2 } } };
    yield { event: { case: "result" as const, value: { content: [text("ok")] } } };
  }),
  unary(method.testLoggingTool, answering(text("ok"))),
];
