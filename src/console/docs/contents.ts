/** The pages of the documentation, in the order of docs/index.md, which lists them by layer. */

export type DocPage = {
  /** Path below docs/ without `.md`, such as `guides/agents`. */
  path: string
  layer: string
  title: string
  /** A few words from the index; empty for a page that the index does not list. */
  about: string
  text: string
}

/** Path below docs/ and text of each Markdown file. */
export type Texts = ReadonlyMap<string, string>

const INDEX = 'index.md'
const ITEM = /^- \[(.+?)\]\(([\w/-]+)\.md\): (.+)$/
const LAYER = /^## (.+)$/

/** The first heading of a page. */
export function titleOf(text: string): string {
  return /^# +(.*?) *$/m.exec(text)?.[1] ?? ''
}

/** All pages but the index. A page that the index does not list comes last in its layer. */
export function listPages(texts: Texts): DocPage[] {
  const listed: DocPage[] = []
  let layer = ''
  for (const line of (texts.get(INDEX) ?? '').split('\n')) {
    layer = LAYER.exec(line)?.[1] ?? layer
    const [, title = '', path = '', about = ''] = ITEM.exec(line) ?? []
    const text = texts.get(`${path}.md`)
    if (text !== undefined) listed.push({ path, layer, title, about, text })
  }
  const known = new Set(listed.map(({ path }) => `${path}.md`))
  const others = [...texts].filter(([name]) => name !== INDEX && !known.has(name)).sort()
  const unlisted = others.map(([name, text]) => {
    const folder = name.split('/')[0] ?? ''
    const layerName = `${folder.charAt(0).toUpperCase()}${folder.slice(1)}`
    const path = name.slice(0, -'.md'.length)
    return { path, layer: layerName, title: titleOf(text), about: '', text }
  })
  return layersOf([...listed, ...unlisted]).flatMap(([, pages]) => pages)
}

/** Pages by layer, in order. */
export function layersOf(pages: readonly DocPage[]): [layer: string, pages: DocPage[]][] {
  return [...Map.groupBy(pages, ({ layer }) => layer)]
}

/** A page as the search knows it. The section without a heading is the beginning of the page. */
export type SearchPage = {
  href: string
  title: string
  layer: string
  sections: { heading: string; anchor: string; text: string }[]
}
export type SearchIndex = SearchPage[]
