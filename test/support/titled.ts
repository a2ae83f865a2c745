/** The title of a test or a group of them, with why it is skipped where it is: the run's end tells that (skipped-reporter.ts). */
export function titled(title: string, skipped: string | undefined): string {
  return skipped ? `${title} (skipped: ${skipped})` : title;
}
