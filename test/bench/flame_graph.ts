/**
 * Draws a flame graph of a CPU profile: `bun test/bench/flame_graph.ts in.cpuprofile out.svg [title]`. The same
 * profile gives the same picture. Widths are shares of the time that the process was not idle.
 */

type ProfileNode = {
  id: number
  callFrame: { functionName: string; url: string; lineNumber: number }
  children?: number[]
}
type Profile = { nodes: ProfileNode[]; samples: number[] }

type Frame = {
  name: string
  kind: keyof typeof COLOURS
  time: number
  children: Map<string, Frame>
}

const COLOURS = { ours: '#f59e0b', package: '#60a5fa', runtime: '#cbd5e1' }
const IDLE = /^\((idle|program)\)$/
const [WIDTH, ROW, TOP] = [1200, 16, 44]
/** Narrower frames are left out, and so are labels of narrow ones. */
const [MIN_WIDTH, MIN_TEXT] = [1.5, 24]
const CHARACTER = 6.2

function drawFlameGraph(profile: Profile, title: string): string {
  const root = treeOf(profile)
  const boxes: string[] = []
  const depth = drawFrames(root, { x: 0, depth: 0, scale: WIDTH / root.time }, boxes)
  const height = TOP + depth * ROW + 12
  const legend = Object.entries(COLOURS).map(
    ([kind, colour], index) =>
      `<rect x="${10 + index * 90}" y="26" width="10" height="10" fill="${colour}"/><text x="${24 + index * 90}" y="35">${kind}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="monospace" font-size="10">
<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>
<text x="10" y="18" font-size="13">${Bun.escapeHTML(title)}</text>
${legend.join('\n')}
${boxes.join('\n')}
</svg>
`
}

/** Stacks with the same names are merged. Time is counted in samples, because the process may sleep between two. */
function treeOf({ nodes, samples }: Profile): Frame {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  )
  const root: Frame = { name: 'all', kind: 'runtime', time: 0, children: new Map() }
  for (const id of samples) {
    const stack: ProfileNode[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = byId.get(at)
      if (node && parents.has(at)) stack.push(node)
    }
    if (stack.length === 0 || IDLE.test(stack[0]?.callFrame.functionName ?? '')) continue
    addStack(root, stack.reverse())
  }
  return root
}

function addStack(root: Frame, stack: readonly ProfileNode[]): void {
  let frame = root
  frame.time += 1
  for (const { callFrame } of stack) {
    const name = nameOf(callFrame)
    const known = frame.children.get(name)
    const next = known ?? { name, kind: kindOf(callFrame.url), time: 0, children: new Map() }
    if (!known) frame.children.set(name, next)
    next.time += 1
    frame = next
  }
}

function nameOf({ functionName, url, lineNumber }: ProfileNode['callFrame']): string {
  const file = url.split('/').at(-1) ?? ''
  return `${functionName || '(anonymous)'}${file ? ` ${file}:${lineNumber + 1}` : ''}`
}

function kindOf(url: string): Frame['kind'] {
  if (url.includes('/node_modules/')) return 'package'
  return url.includes('/src/') || url.includes('$bunfs') ? 'ours' : 'runtime'
}

type Place = { x: number; depth: number; scale: number }

/** Returns the number of rows. */
function drawFrames(frame: Frame, { x, depth, scale }: Place, boxes: string[]): number {
  const width = frame.time * scale
  if (width < MIN_WIDTH) return depth
  boxes.push(drawBox(frame, { x, depth, width, share: width / WIDTH }))
  let deepest = depth + 1
  let left = x
  for (const child of [...frame.children.values()].sort(byName)) {
    deepest = Math.max(deepest, drawFrames(child, { x: left, depth: depth + 1, scale }, boxes))
    left += child.time * scale
  }
  return deepest
}

function byName(a: Frame, b: Frame): number {
  return a.name < b.name ? -1 : 1
}

type Box = { x: number; depth: number; width: number; share: number }

function drawBox({ name, kind }: Frame, { x, depth, width, share }: Box): string {
  const y = TOP + depth * ROW
  const room = Math.floor((width - 4) / CHARACTER)
  const shown = width < MIN_TEXT ? '' : name.length > room ? `${name.slice(0, room - 1)}…` : name
  const text = shown && `<text x="${round(x + 2)}" y="${y + 11}">${Bun.escapeHTML(shown)}</text>`
  const title = `<title>${Bun.escapeHTML(name)} ${(share * 100).toFixed(1)} %</title>`
  return `<g>${title}<rect x="${round(x)}" y="${y}" width="${round(width)}" height="${ROW - 1}" fill="${COLOURS[kind]}"/>${text}</g>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

export async function drawProfile(input: string, output: string, title: string): Promise<void> {
  await Bun.write(output, drawFlameGraph(await Bun.file(input).json(), title))
}

if (import.meta.main) {
  const [input, output, title = 'CPU time'] = process.argv.slice(2)
  if (!input || !output) throw new Error('usage: bun test/bench/flame_graph.ts <in> <out> [title]')
  await drawProfile(input, output, title)
}
