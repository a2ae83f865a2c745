import { createRunRoom, endOfDay, type RunRoomParts } from "../../../../services/core-objects/runs/run-room.js";
import { startRig } from "../rig.js";

// A process that counts a run of alice's and is killed before it writes it.

const rig = await startRig({ folder: process.argv[2]! });
const parts = {
  rooms: rig.store.collection("run_room"),
  runs: rig.store.collection("runs"),
  steps: rig.store.collection("run_steps"),
} as unknown as RunRoomParts;
const room = createRunRoom(parts, { runs: 2 ** 20, deploymentRuns: 2 ** 20 });
const expiresAt = endOfDay(new Date(Date.now() + 86_400_000));
await room.take({ owner: "alice", expiresAt, runs: 1, bytes: 5_000 });
process.send!("taken");
