import type { Program } from "../support/program.js";

/** The port that a kind of attack goes to, by the door that its name begins with. */
export function portOf(kind: string, { baseUrl, grpcAddress }: Pick<Program, "baseUrl" | "grpcAddress">): number {
  return Number(kind.startsWith("grpc: ") ? grpcAddress.split(":").at(-1) : new URL(baseUrl).port);
}
