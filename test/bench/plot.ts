/** A small writer of line charts in SVG: categories along x, values on a logarithmic scale along y. */

export type Chart = {
  title: string
  /** All lines have the same categories in the same order. */
  lines: { name: string; points: { x: string; y: number }[] }[]
}

const COLOURS = ['#64748b', '#16a34a', '#d97706', '#2563eb', '#9333ea', '#dc2626']
const [WIDTH, HEIGHT] = [320, 220]
const MARGIN = { left: 56, right: 12, top: 32, bottom: 36 }
const LEGEND_HEIGHT = 28

/** The charts side by side with one legend below. */
export function drawCharts(charts: readonly Chart[]): string {
  const width = WIDTH * charts.length
  const height = HEIGHT + LEGEND_HEIGHT
  const panels = charts.map(
    (chart, index) => `<g transform="translate(${index * WIDTH} 0)">\n${drawChart(chart)}\n</g>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="11">
<rect width="${width}" height="${height}" fill="#ffffff"/>
${panels.join('\n')}
${drawLegend(charts[0]?.lines.map(({ name }) => name) ?? [])}
</svg>
`
}

function drawChart({ title, lines }: Chart): string {
  const exponents = lines.flatMap(({ points }) => points.map(({ y }) => Math.log10(y)))
  const [low, high] = [Math.floor(Math.min(...exponents)), Math.ceil(Math.max(...exponents))]
  const inner = {
    width: WIDTH - MARGIN.left - MARGIN.right,
    height: HEIGHT - MARGIN.top - MARGIN.bottom,
  }
  const categories = lines[0]?.points.map(({ x }) => x) ?? []
  const atX = (index: number) =>
    MARGIN.left + (inner.width * (index + 0.5)) / Math.max(1, categories.length)
  const atY = (value: number) =>
    MARGIN.top + (inner.height * (high - Math.log10(value))) / Math.max(1, high - low)
  const grid = Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step))
  return [
    text(MARGIN.left, 18, title, 'font-weight="bold"'),
    ...grid.map((value) => gridLine(value, atY(value))),
    ...categories.map((name, index) =>
      text(atX(index), HEIGHT - 20, name, 'text-anchor="middle" fill="#475569"'),
    ),
    text(
      MARGIN.left + inner.width / 2,
      HEIGHT - 5,
      'concurrent',
      'text-anchor="middle" fill="#475569"',
    ),
    ...lines.map(({ points }, line) => {
      const path = points.map(({ y }, index) => `${round(atX(index))},${round(atY(y))}`).join(' ')
      return `<polyline points="${path}" fill="none" stroke="${colour(line)}" stroke-width="2"/>`
    }),
  ].join('\n')
}

function gridLine(value: number, y: number): string {
  const line = `<line x1="${MARGIN.left}" x2="${WIDTH - MARGIN.right}" y1="${round(y)}" y2="${round(y)}" stroke="#e2e8f0"/>`
  const label = text(MARGIN.left - 6, y + 4, String(value), 'text-anchor="end" fill="#475569"')
  return `${line}\n${label}`
}

function drawLegend(names: readonly string[]): string {
  const y = HEIGHT + 14
  return names
    .map((name, index) => {
      const x = MARGIN.left + index * 140
      return `<rect x="${x}" y="${y - 9}" width="10" height="10" fill="${colour(index)}"/>\n${text(x + 15, y, name, '')}`
    })
    .join('\n')
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${Bun.escapeHTML(content)}</text>`
}

function colour(index: number): string {
  return COLOURS[index % COLOURS.length] ?? '#000000'
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
