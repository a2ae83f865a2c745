import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

// npm run test:conformance: the official suite of the Connect protocol, for unary
// calls over HTTP/1.1, against the lane, against the connection of the lane that
// calls share, and against the gRPC port. It needs Go.

const SUITE = "connectrpc.com/conformance";
const VERSION = "v1.0.7";

const OF_HTTP = ["verb", "codec", "content-type", "compression"];

const here = (name: string): string => join(import.meta.dirname, name);
const dir = mkdtempSync(join(tmpdir(), "connect-conformance-"));
try {
  execFileSync("go", ["install", `${SUITE}/cmd/connectconformance@${VERSION}`], {
    env: { ...process.env, GOBIN: dir },
    stdio: "inherit",
  });
  const cache = execFileSync("go", ["env", "GOMODCACHE"], { encoding: "utf8" }).trim();
  const image = join(dir, "image.binpb");
  execFileSync("npx", ["buf", "build", join(cache, `${SUITE}@${VERSION}`, "proto"), "-o", image], { stdio: "inherit" });
  for (const port of ["lane", "shared", "grpc"]) {
    process.stdout.write(`\n${port}\n`);
    const server = [process.execPath, "--import", "tsx", "--conditions=house:source", here("server.ts"), port, image];
    // A call on a shared connection has no verb, media type or compression that could be another one.
    const skipped = port === "shared" ? OF_HTTP.flatMap((name) => ["--skip", `**/unexpected-${name}`]) : [];
    const suite = ["--conf", here("unary.yaml"), "--mode", "server", ...skipped, "--", ...server];
    const { status } = spawnSync(join(dir, "connectconformance"), suite, { stdio: "inherit" });
    if (status !== 0) process.exitCode = 1;
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
