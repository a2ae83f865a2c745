import type { DescMethod } from "@bufbuild/protobuf";

const NO_SIDE_EFFECTS = 1;
/** It changes nothing, which its proto, which is gRPC's own, does not say. */
const REFLECTION = "grpc.reflection.v1.ServerReflection";

/** Whether an rpc changes nothing. */
export function readsOnly({ idempotency, parent }: DescMethod): boolean {
  return idempotency === NO_SIDE_EFFECTS || parent.typeName === REFLECTION;
}
