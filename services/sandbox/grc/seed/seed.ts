import { seededId, type World } from "../world.js";
import { seedAudits } from "./audits.js";
import { seedAssets, seedControls, seedEvidence } from "./controls.js";
import { seedEdges } from "./edges.js";
import { seedLibrary } from "./library.js";
import { seedPlain } from "./plain.js";
import { seedQuantification } from "./quantification.js";
import { seedAttacks, seedRisks } from "./risks.js";
import { type Plot, Sower } from "./sower.js";
import { SYSTEMS, TENANTS } from "./texts.js";
import { seedUsers } from "./users.js";

/** Fills a platform: the same objects with the same ids at every start. */
export function seedWorld(): World {
  const sower = new Sower();
  folder(sower, "root", null, "Global", "GL");
  seedLibrary(sower);
  const plots: Plot[] = [];
  for (const { key, name, owner, domains } of TENANTS) {
    folder(sower, key, "root", name, "DO");
    for (const [domain, domainName, parent] of domains) folder(sower, domain, parent, domainName, "DO");
    const folders = [key, ...domains.map(([domain]) => domain)].map((one) => seededId(`folder:${one}`));
    const plot: Plot = {
      key,
      short: name.split(" ")[0]!,
      owner,
      home: (i) => folders[i % folders.length]!,
      asset: (i) => seededId(`assets:${key}:${i % SYSTEMS.length}`),
    };
    seedAssets(sower, plot);
    seedEvidence(sower, plot);
    seedControls(sower, plot);
    sower.add("perimeters", key, plot.home(0), `${plot.short} operations`, { ref_id: null });
    seedAudits(sower, plot);
    seedRisks(sower, plot);
    seedAttacks(sower, plot);
    seedPlain(sower, plot);
    plots.push(plot);
  }
  // After all else, so that nothing else is made at another time than it was without them.
  for (const plot of plots) seedQuantification(sower, plot);
  seedEdges(sower);
  seedUsers(sower.world, sower.now());
  return sower.world;
}

function folder(sower: Sower, key: string, parent: string | null, name: string, type: string): void {
  const at = sower.now();
  sower.world.insert("folders", {
    id: seededId(`folder:${key}`),
    folder: parent === null ? seededId("folder:root") : seededId(`folder:${parent}`),
    name,
    created_at: at,
    updated_at: at,
    description: null,
    content_type: type,
    parent_folder: parent === null ? null : seededId(`folder:${parent}`),
    create_iam_groups: parent === "root",
  });
}
