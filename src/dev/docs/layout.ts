/** The frame around a page of the documentation: header, navigation, list of sections, neighbors. */
import { type DocPage, layersOf } from '../../console/docs/contents.ts'
import { sectionsOf } from '../../console/docs/headings.ts'
import { toPlainText } from './html.ts'

export type Assets = { style: string; script: string; search: string }

export type Framed = {
  /** Path below docs/ without `.md`; `index` for the start page, and `null` for the page of an unknown address. */
  path: string | null
  title: string
  about: string
  text: string
  html: string
}

/** More entries than this are shown without the subsections. */
const MAX_SECTIONS = 40
const MARK =
  '<svg viewBox="0 0 24 24" width="20" height="20" aria-hidden="true"><path class="mark" d="M5 4h14a2 2 0 0 1 2 2v4a2 2 0 0 0 0 4v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4a2 2 0 0 0 0-4V6a2 2 0 0 1 2-2z"/><path stroke="#fff" stroke-width="2" d="M9 8v8M13 12h4"/></svg>'

const escaped = Bun.escapeHTML
const hrefOf = (path: string) => (path === 'index' ? '/docs/' : `/docs/${path}`)
const link = (href: string, text: string, more = '') =>
  `<a href="${escaped(href)}"${more}>${escaped(text)}</a>`

/** A whole page. */
export function framePage(page: Framed, pages: readonly DocPage[], assets: Assets): string {
  const title = page.path === 'index' ? page.title : `${page.title} · Cloakroom`
  const about =
    page.about === '' ? '' : `<meta name="description" content="${escaped(page.about)}">`
  const markdown =
    page.path === null
      ? ''
      : `<link rel="alternate" type="text/markdown" href="/docs/${page.path}.md">`
  const sections = sectionLinks(page.text)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark light">
<title>${escaped(title)}</title>
${about}
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%234f4fc8' d='M5 4h14a2 2 0 0 1 2 2v4a2 2 0 0 0 0 4v4a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2v-4a2 2 0 0 0 0-4V6a2 2 0 0 1 2-2z'/%3E%3Cpath stroke='%23fff' stroke-width='2' d='M9 8v8M13 12h4'/%3E%3C/svg%3E">
<link rel="stylesheet" href="${assets.style}">
${markdown}
<script src="${assets.script}" data-search="${assets.search}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<a class="brand" href="/docs/">${MARK}<span>Cloakroom <span class="quiet">docs</span></span></a>
<search hidden>
<input type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false" aria-controls="results"><kbd>/</kbd>
<ul id="results" hidden></ul>
<p role="status" class="skip"></p>
</search>
<a class="place" href="/console/">Console</a>
<button type="button" class="menu" popovertarget="pages">Menu</button>
</header>
<div class="columns">
<nav id="pages" popover aria-label="Pages">${navigation(page.path, pages)}</nav>
<main id="content" tabindex="-1">
${foldSections(sections)}
<article>
${page.html}</article>
${page.path === null ? '' : footer(page.path, pages)}
</main>
<aside aria-label="On this page">${sections === '' ? '' : `<p>On this page</p><ul>${sections}</ul>`}</aside>
</div>
</body>
</html>
`
}

function navigation(current: string | null, pages: readonly DocPage[]): string {
  const own = (path: string) => (path === current ? ' aria-current="page"' : '')
  const layers = layersOf(pages).map(([layer, listed]) => {
    const items = listed.map(
      ({ path, title }) => `<li>${link(hrefOf(path), title, own(path))}</li>`,
    )
    return `<p>${escaped(layer)}</p><ul>${items.join('')}</ul>`
  })
  return `<ul><li>${link('/docs/', 'Overview', own('index'))}</li></ul>${layers.join('')}`
}

function sectionLinks(text: string): string {
  const all = sectionsOf(text).filter(({ level }) => level === 2 || level === 3)
  const shown = all.length > MAX_SECTIONS ? all.filter(({ level }) => level === 2) : all
  if (shown.length < 2) return ''
  const items = shown.map(({ level, heading, anchor }) => {
    const deep = level === 3 ? ' class="deep"' : ''
    return `<li${deep}>${link(`#${anchor}`, toPlainText(heading))}</li>`
  })
  return items.join('')
}

/** For screens without room for a third column. */
function foldSections(sections: string): string {
  if (sections === '') return ''
  return `<details><summary>On this page</summary><ul>${sections}</ul></details>`
}

function footer(path: string, pages: readonly DocPage[]): string {
  const at = pages.findIndex((page) => page.path === path)
  const [before, after] = [pages[at - 1], pages[at + 1]]
  const neighbor = (page: DocPage | undefined, label: string, name: string) =>
    page === undefined
      ? ''
      : `<a class="${name}" href="${hrefOf(page.path)}"><span>${label}</span>${escaped(page.title)}</a>`
  return `<footer>
<nav aria-label="Neighboring pages">${neighbor(before, 'Previous', 'previous')}${neighbor(after, 'Next', 'next')}</nav>
<p>${link(`/docs/${path}.md`, 'View as Markdown')}</p>
</footer>`
}
