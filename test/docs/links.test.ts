// tier: quick
/** Every relative link of the documents leads to a file, and to a heading where it names one. */
import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { anchorsOf, documents, ROOT, textOf } from './documents.ts'

test('every link of README, CONTRIBUTING and docs leads somewhere', () => {
  const links = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, to = '']) => ({ path, to })),
  )
  expect(links.length).toBeGreaterThan(30)
  expect(links.filter(({ path, to }) => !leadsSomewhere(path, to))).toEqual([])
})

test('every picture has a description and a file that the server delivers as a picture', () => {
  const pictures = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/!\[([^\]]*)\]\(([^)]+)\)/g)].map(([, about = '', to = '']) => ({
      ...{ path, about, to },
    })),
  )
  expect(pictures.length).toBeGreaterThan(10)
  const isPicture = ({ path, to }: { path: string; to: string }) =>
    /\.(png|svg)$/.test(to) && leadsSomewhere(path, to)
  expect(pictures.filter((each) => each.about === '' || !isPicture(each))).toEqual([])
})

test('every page of docs/ but the index is listed on the index', () => {
  const listed = [...textOf('docs/index.md').matchAll(/^- \[.+?\]\(([^)]+)\): /gm)]
  const known = listed.map(([, path]) => `docs/${path}`)
  const pages = documents.map(({ path }) => path).filter((path) => path.startsWith('docs/'))
  const unlisted = pages.filter((path) => path !== 'docs/index.md' && !known.includes(path))
  expect(unlisted).toEqual([])
})

test('every document that is named in prose exists', () => {
  const named = documents.flatMap(({ text }) =>
    [...text.matchAll(/(?<!\/api\/)\bdocs\/[\w/-]+\.\w+/g)].map(([name]) => name),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter((name) => !existsSync(join(ROOT, name)))).toEqual([])
})

test('every file of the code that is named exists', () => {
  const named = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/(?<![\w/])(?:src|test)(?:\/[\w-]+)+(?:\.\w+)*/g)].map(([file]) => ({
      path,
      file,
    })),
  )
  expect(named.length).toBeGreaterThan(10)
  expect(named.filter(({ file }) => !existsSync(join(ROOT, file)))).toEqual([])
})

test('an anchor is found by the words of its heading', () => {
  const anchors = anchorsOf(
    '## 3.4 Outer layer\n### `a_b` and *c*, d\n## Two\n```\n# no\n```\n## Two',
  )
  expect(anchors).toEqual(['34-outer-layer', 'a_b-and-c-d', 'two', 'two-1'])
})

function leadsSomewhere(from: string, to: string): boolean {
  const [file = '', anchor] = to.split('#')
  const path = file === '' ? from : relative('', join(from, '..', file))
  if (!existsSync(join(ROOT, path))) return false
  const target = documents.find((document) => document.path === path)
  return anchor === undefined || (target !== undefined && anchorsOf(target.text).includes(anchor))
}
