/**
 * A recording as a picture that moves: text, and style sheets that say when each line is there. Without
 * motion, for who prefers that, it is the end of the recording.
 */
import { COLUMNS } from '../../cli/pseudo_terminal.ts'
import type { Span } from './screen.ts'

/** A line of the terminal: there since a moment, or typed from then on at a key each `keyMs`. */
export type Line = { spans: Span[]; atMs: number; keyMs?: number }

type Recording = { title: string; lines: readonly Line[]; lengthMs: number; speed: number }

const CHARACTER = 8.4
const LINE = 19
const MARGIN = 16
const ROWS = 26
/** `$ `, which nobody types. */
const PROMPT = 2
const WIDTH = Math.ceil(COLUMNS * CHARACTER) + 2 * MARGIN
const HEIGHT = ROWS * LINE + 2 * MARGIN

export function draw({ title, lines, lengthMs, speed }: Recording): string {
  const percent = (ms: number) => `${Math.round((ms / lengthMs) * 1e5) / 1e3}%`
  const times = [...new Set(lines.map(({ atMs }) => atMs))].sort((one, other) => one - other)
  const appearing = times.map(
    (atMs, index) => `@keyframes t${index}{0%{opacity:0}${percent(atMs)}{opacity:1}}`,
  )
  const typed = lines.flatMap((line, row) =>
    line.keyMs === undefined ? [] : [{ ...line, row, keyMs: line.keyMs }],
  )
  const covers = typed.map(({ spans, atMs, keyMs }, index) => {
    const keys = lengthOf(spans) - PROMPT
    const end = `transform:translateX(${width(keys)}px)`
    return `@keyframes c${index}{0%{transform:none}${percent(atMs)}{transform:none;animation-timing-function:steps(${keys})}${percent(atMs + keys * keyMs)}{${end}}to{${end}}}`
  })
  const scrolls = times.map((atMs) => {
    const shown = lines.filter((line) => line.atMs <= atMs).length
    return `${percent(atMs)}{transform:translateY(${-offset(shown)}px)}`
  })
  const play = `animation-duration:${Math.round(lengthMs / speed)}ms;animation-iteration-count:infinite;animation-timing-function:step-end`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" xml:space="preserve" font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace" font-size="14">
<title>${escaped(title)}</title>
<style>
text{white-space:pre;fill:#1f2328}.back,.cover{fill:#fff}.back{stroke:#d1d9e0}
.bold,.typed{font-weight:600}.dim{fill:#59636e}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.back,.cover{fill:#0d1117}.back{stroke:#3d444d}.dim{fill:#9198a1}}
@media (prefers-reduced-motion:no-preference){
.cover{display:block}#lines,.line,.cover{${play}}
${times.map((_, index) => `.t${index}{animation-name:t${index}}`).join('')}
${typed.map((_, index) => `#c${index}{animation-name:c${index}}`).join('')}
#lines{animation-name:scroll}@keyframes scroll{0%{transform:none}${scrolls.join('')}}
${[...appearing, ...covers].join('\n')}
}
</style>
<clipPath id="window"><rect width="${WIDTH}" height="${HEIGHT}" rx="8"/></clipPath>
<rect class="back" x=".5" y=".5" width="${WIDTH - 1}" height="${HEIGHT - 1}" rx="8"/>
<g clip-path="url(#window)"><g id="lines" transform="translate(0 ${-offset(lines.length)})">
${lines.map((line, row) => textOf(line, row, times.indexOf(line.atMs))).join('\n')}
${typed.map(({ row, spans }, index) => `<rect class="cover" display="none" id="c${index}" x="${MARGIN + CHARACTER * PROMPT}" y="${top(row) - 14}" width="${width(lengthOf(spans) - PROMPT)}" height="${LINE}"/>`).join('\n')}
</g></g>
</svg>
`
}

function textOf({ spans, keyMs }: Line, row: number, time: number): string {
  const inner = spans.map(({ text, look }) =>
    look === 'plain' ? escaped(text) : `<tspan class="${look}">${escaped(text)}</tspan>`,
  )
  const kind = keyMs === undefined ? 'line' : 'line typed'
  const length = lengthOf(spans)
  // In another font, the characters still align in columns.
  const fixed = spans.length === 1 ? ` textLength="${width(length)}"` : ''
  return `<text class="${kind} t${time}" x="${MARGIN}" y="${top(row)}"${fixed}>${inner.join('')}</text>`
}

function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { text }) => sum + text.length, 0)
}

function width(characters: number): number {
  return Math.round(characters * CHARACTER * 10) / 10
}

function top(row: number): number {
  return MARGIN + row * LINE + 14
}

/** How far the lines have moved up when there are so many. */
function offset(count: number): number {
  return Math.max(0, count - ROWS) * LINE
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
