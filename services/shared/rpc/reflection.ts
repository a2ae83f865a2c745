import { type DescFile, type FileRegistry, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  ServerReflection,
  type ServerReflectionRequest,
  type ServerReflectionResponseSchema,
} from "#proto/grpc/reflection/v1/reflection_pb.js";
import { duplex, type Method, withScope } from "./method.js";

type Reply = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/** gRPC server reflection, from the same image that the façade reads; comments included. */
export function reflection(image: FileRegistry, services: readonly string[]): Method {
  const method = duplex(ServerReflection.method.serverReflectionInfo, async function* (requests) {
    for await (const request of requests) {
      yield { validHost: request.host, originalRequest: request, messageResponse: replyTo(request, image, services) };
    }
  });
  return withScope("account", method);
}

function replyTo({ messageRequest }: ServerReflectionRequest, image: FileRegistry, services: readonly string[]): Reply {
  switch (messageRequest.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: services.map((name) => ({ name })) } };
    case "fileByFilename":
      return filesReply(image.getFile(messageRequest.value));
    case "fileContainingSymbol":
      return filesReply(fileOf(messageRequest.value, image));
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = messageRequest.value;
      const extendee = image.getMessage(containingType);
      return filesReply(extendee && image.getExtensionFor(extendee, extensionNumber)?.file);
    }
    case "allExtensionNumbersOfType": {
      const baseTypeName = messageRequest.value;
      const extensionNumber = [...image]
        .filter((desc) => desc.kind === "extension" && desc.extendee.typeName === baseTypeName)
        .map((desc) => (desc as { number: number }).number);
      return { case: "allExtensionNumbersResponse", value: { baseTypeName, extensionNumber } };
    }
    default:
      return errorReply(Code.InvalidArgument, "the request does not say what to look up");
  }
}

/** The file that defines a type, service, rpc, field or enum value. */
function fileOf(symbol: string, image: FileRegistry): DescFile | undefined {
  const found = image.get(symbol);
  if (found !== undefined) return found.file;
  const parent = symbol.slice(0, Math.max(0, symbol.lastIndexOf(".")));
  return parent === "" ? undefined : image.get(parent)?.file;
}

function filesReply(file: DescFile | undefined): Reply {
  if (file === undefined) return errorReply(Code.NotFound, "the API has no such file, symbol or extension");
  const files = new Set<DescFile>();
  const add = (one: DescFile): void => {
    if (files.has(one)) return;
    files.add(one);
    for (const dependency of one.dependencies) add(dependency);
  };
  add(file);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: [...files].map(bytesOf) } };
}

/** The bytes of files that were asked for: to write one again and again costs milliseconds of the serving loop. */
const written = new WeakMap<DescFile, Uint8Array>();

function bytesOf(file: DescFile): Uint8Array {
  const bytes = written.get(file) ?? toBinary(FileDescriptorProtoSchema, file.proto);
  written.set(file, bytes);
  return bytes;
}

function errorReply(errorCode: Code, errorMessage: string): Reply {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
