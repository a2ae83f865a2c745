import { spawnSync } from "node:child_process";

/** The commit that changes are compared with: where a branch left main; on main, the last commit. */
export function baseOf(root: string): string {
  const [base = "HEAD"] = [
    ...git(root, "merge-base", "HEAD", "main"),
    ...git(root, "merge-base", "HEAD", "origin/main"),
  ];
  return base;
}

/**
 * The files that differ from a commit, new ones included.
 *
 * @param root a folder of a repository.
 */
export function changedFiles(root: string, base: string): string[] {
  const changed = git(root, "diff", "--name-only", base);
  return [...new Set([...changed, ...git(root, "ls-files", "--others", "--exclude-standard")])];
}

/** The lines that a file has more than at a commit. */
export function addedLines(root: string, base: string, file: string): string[] {
  return git(root, "diff", "--unified=0", base, "--", file).filter((line) => /^\+(?!\+\+ )/.test(line));
}

/** The text of a file at a commit; "" if it has none. */
export function textAt(root: string, base: string, file: string): string {
  return git(root, "show", `${base}:${file}`).join("\n");
}

function git(root: string, ...args: string[]): string[] {
  const { status, stdout } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });
  return status === 0 ? stdout.split("\n").filter(Boolean) : [];
}
