import { existsSync, readFileSync } from "node:fs";
import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

/**
 * The .proto files that differ between two images, source info included.
 *
 * @returns undefined if all have to be generated: there was no image, or a file is no more.
 */
export function changedProtos(before: string, now: string): readonly string[] | undefined {
  if (!existsSync(before)) return undefined;
  const [old, current] = [filesIn(before), filesIn(now)];
  if ([...old.keys()].some((name) => !current.has(name))) return undefined;
  return [...current].filter(([name, bytes]) => old.get(name)?.equals(bytes) !== true).map(([name]) => name);
}

function filesIn(image: string): Map<string, Buffer> {
  const { file } = fromBinary(FileDescriptorSetSchema, readFileSync(image));
  return new Map(file.map((one) => [one.name, Buffer.from(toBinary(FileDescriptorProtoSchema, one))]));
}
