const MARK = "reloaded for files";

/**
 * A tab from before an update asks for files that no longer exist: the page is
 * loaded again. If the files are missing then too, the page says so: it never
 * reloads in a loop.
 */
export function reloadOnce(): void {
  const path = location.pathname;
  if (sessionStorage.getItem(MARK) === path) return;
  sessionStorage.setItem(MARK, path);
  location.reload();
}

/** The page has its files: the next time that they are missing is another update. */
export function filesArrived(): void {
  sessionStorage.removeItem(MARK);
}
