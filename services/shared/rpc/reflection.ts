import { create, type DescFile, type FileRegistry, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { LRUCache } from "lru-cache";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionResponseSchema,
} from "#proto/grpc/reflection/v1/reflection_pb.js";
import { readFiles } from "../tools/image.js";
import { duplex, type Method, withScope } from "./method.js";

type Reply = NonNullable<MessageInitShape<typeof ServerReflectionResponseSchema>["messageResponse"]>;

/** gRPC server reflection, from the same image that the façade reads; comments included. */
export function reflection(image: FileRegistry, services: readonly string[]): Method {
  const method = duplex(ServerReflection.method.serverReflectionInfo, async function* (requests, { append }) {
    for await (const request of requests) {
      const asked = { validHost: request.host, originalRequest: request };
      const found = lookUp(request, image, services);
      if (!("kind" in found)) yield { ...asked, messageResponse: found };
      else if (append === undefined) yield { ...asked, messageResponse: filesReply(found) };
      else {
        append(writtenReply(found));
        yield asked;
      }
    }
  });
  return withScope("account", method);
}

/** A file, which is answered with all that it needs, or another answer. */
function lookUp(
  { messageRequest }: ServerReflectionRequest,
  image: FileRegistry,
  services: readonly string[],
): DescFile | Reply {
  switch (messageRequest.case) {
    case "listServices":
      return { case: "listServicesResponse", value: { service: services.map((name) => ({ name })) } };
    case "fileByFilename":
      return image.getFile(messageRequest.value) ?? NO_FILE;
    case "fileContainingSymbol":
      return fileOf(messageRequest.value, image) ?? NO_FILE;
    case "fileContainingExtension": {
      const { containingType, extensionNumber } = messageRequest.value;
      const extendee = image.getMessage(containingType);
      return (extendee && image.getExtensionFor(extendee, extensionNumber)?.file) ?? NO_FILE;
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

function filesReply(file: DescFile): Reply {
  const files = new Set<DescFile>();
  const add = (one: DescFile): void => {
    if (files.has(one)) return;
    files.add(one);
    for (const dependency of one.dependencies) add(dependency);
  };
  add(file);
  return { case: "fileDescriptorResponse", value: { fileDescriptorProto: [...files].map(bytesOf) } };
}

/** Bytes of answers that are kept, those asked for last: of every file it would be ten times as much. */
const KEPT_BYTES = 2 << 20;
const replies = new LRUCache<DescFile, Uint8Array>({
  maxSize: KEPT_BYTES,
  sizeCalculation: ({ byteLength }) => byteLength,
});

/** The fields of an answer with a file: they are the same for everybody, and a hundred kilobytes. */
function writtenReply(file: DescFile): Uint8Array {
  let bytes = replies.get(file);
  if (bytes === undefined) {
    const reply = create(ServerReflectionResponseSchema, { messageResponse: filesReply(file) });
    bytes = toBinary(ServerReflectionResponseSchema, reply);
    replies.set(file, bytes);
  }
  return bytes;
}

/** What stands in the image, from the first answer on. */
let files: ReadonlyMap<string, Uint8Array> | undefined;

function bytesOf(file: DescFile): Uint8Array {
  files ??= readFiles();
  // A descriptor's name has no extension.
  return files.get(`${file.name}.proto`) ?? toBinary(FileDescriptorProtoSchema, file.proto);
}

function errorReply(errorCode: Code, errorMessage: string): Reply {
  return { case: "errorResponse", value: { errorCode, errorMessage } };
}
const NO_FILE = errorReply(Code.NotFound, "the API has no such file, symbol or extension");
