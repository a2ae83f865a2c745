// What can be said before anything is installed: whether this Node is served, and
// whether µWebSockets.js has a binary for it. Plain JavaScript, as prepare.mjs is.

/** The glibc that the binaries of the pinned µWebSockets.js need, by the ABI of Node: those of Linux, x64 and arm64. */
export const GLIBC_OF_ABI = { 115: "2.27", 120: "2.27", 127: "2.38", 137: "2.38", 141: "2.38" };
const SYSTEMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];

/** Why a version of Node is not served, in one line; undefined where it is. */
export function unsupportedNode(version) {
  const [major, minor] = version.split(".").map(Number);
  if ((major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24) return undefined;
  return `Node ${version} is not supported: install Node 20.19, 22.12, 24 or newer`;
}

/** What this process runs on; `glibc` is undefined where it is another C library, or none. */
export function here() {
  const { versions, platform, arch } = process;
  process.report.excludeNetwork = true;
  const glibc = process.report.getReport().header.glibcVersionRuntime;
  return { node: versions.node, abi: versions.modules, system: `${platform}-${arch}`, glibc };
}

/** Says that the HTTP server will be Node's own, and why; undefined where µWebSockets.js has a binary. */
export function edgeNote({ node, abi, system, glibc }) {
  const needed = GLIBC_OF_ABI[abi];
  const served = "the HTTP server will be Node's own, which takes more processor time (EDGE=node)";
  if (needed === undefined || !SYSTEMS.includes(system)) {
    return `µWebSockets.js has no binary for Node ${node} on ${system}: ${served}`;
  }
  if (!system.startsWith("linux") || isAtLeast(glibc, needed)) return undefined;
  const found = glibc === undefined ? "has another C library" : `has ${glibc}`;
  return `µWebSockets.js for Node ${node} needs glibc ${needed}, and this system ${found}: ${served}`;
}

function isAtLeast(version = "0.0", wanted) {
  const [major, minor] = version.split(".").map(Number);
  const [wantedMajor, wantedMinor] = wanted.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
}
