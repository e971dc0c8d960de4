/**
 * Figures of repeated measurements. Machines are noisy: contestants take turns in rounds, the median of the rounds is
 * reported, and ratios are ratios of medians from one run.
 */

/** NaN for an empty list. */
export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b)
  const at = (sorted.length - 1) * (percent / 100)
  const [low, high] = [sorted[Math.floor(at)], sorted[Math.ceil(at)]]
  return low === undefined || high === undefined ? Number.NaN : low + (high - low) * (at % 1)
}

/** Milliseconds that the work takes. */
export async function timed(work: () => unknown): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** Three significant digits; a dash for a missing figure. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}

/** A Markdown table; the first column is text, and numbers are right-aligned. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const border = head.map((_, column) => (column === 0 ? '---' : '---:'))
  return [line(head), line(border), ...rows.map(line)].join('\n')
}

/** Processor time of the work in milliseconds, including the runtime's threads. */
export function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
