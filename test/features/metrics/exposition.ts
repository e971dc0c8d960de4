/** The text format of Prometheus (0.0.4), read as strictly as its own linter does. */
export type Sample = { name: string; labels: Record<string, string>; value: number }
export type Family = { type: string; help: string; samples: Sample[] }

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y

/** @throws Error at the first line that violates the format */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith('\n')) throw new Error('the last line has no end')
  const families = new Map<string, Family>()
  const seen = new Set<string>()
  for (const line of text.trimEnd().split('\n')) if (line !== '') readLine(families, seen, line)
  return families
}

function readLine(families: Map<string, Family>, seen: Set<string>, line: string): void {
  const [, kind = '', name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
  if (kind === '') {
    addSample(families, seen, line)
    return
  }
  const field = kind === 'HELP' ? 'help' : 'type'
  const family = families.get(name) ?? { type: '', help: '', samples: [] }
  if (family[field] || family.samples.length > 0) throw new Error(`twice or late: ${line}`)
  families.set(name, { ...family, [field]: rest })
}

function addSample(families: Map<string, Family>, seen: Set<string>, line: string): void {
  const [, name = '', inner = '', number = ''] = SAMPLE.exec(line) ?? []
  const family = families.get(name) ?? families.get(name.replace(/_(bucket|sum|count)$/, ''))
  const value = Number(number.replace('Inf', 'Infinity').replace('Nan', 'NaN'))
  if (!family?.type || !family.help) throw new Error(`no family before: ${line}`)
  if (number !== 'Nan' && Number.isNaN(value)) throw new Error(`no number: ${line}`)
  const labels = parseLabels(inner)
  const series = `${name}${JSON.stringify(Object.entries(labels).sort())}`
  if (seen.has(series)) throw new Error(`twice: ${line}`)
  seen.add(series)
  family.samples.push({ name, labels, value })
}

function parseLabels(inner: string): Record<string, string> {
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < inner.length) {
    const found = LABEL.exec(inner)
    if (!found) throw new Error(`no labels: ${inner}`)
    labels[found[1] ?? ''] = found[2] ?? ''
  }
  return labels
}

/** The sum of all series that have these labels. */
export function sumOf(
  families: Map<string, Family>,
  name: string,
  labels: Record<string, string> = {},
): number {
  const samples = [...families.values()].flatMap((family) => family.samples)
  return samples
    .filter((sample) => sample.name === name)
    .filter((sample) =>
      Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0)
}
