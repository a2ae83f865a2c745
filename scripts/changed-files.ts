import { spawnSync } from "node:child_process";

/**
 * The files that differ from where a branch left main, new ones included; on main, from the last commit.
 *
 * @param root a folder of a repository.
 */
export function changedFiles(root: string): string[] {
  const git = (...args: string[]): string[] => {
    const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
    return status === 0 ? stdout.split("\n").filter(Boolean) : [];
  };
  const [base = "HEAD"] = [...git("merge-base", "HEAD", "main"), ...git("merge-base", "HEAD", "origin/main")];
  const changed = git("diff", "--name-only", base);
  return [...new Set([...changed, ...git("ls-files", "--others", "--exclude-standard")])];
}
