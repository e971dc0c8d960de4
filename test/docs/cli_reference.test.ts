// tier: quick
/** The generated reference of the command line: docs/reference/cli.md and the pages below it. */
import { expect, test } from 'bun:test'
import { basename } from 'node:path'
import { contents } from '../../src/cli/commands/contents.ts'
import { globalOptions } from '../../src/cli/options.ts'
import { cliErrors } from '../../src/cli/terminal/cli_error.ts'
import { renderCliDocs } from '../../src/dev/cli_docs.ts'
import { groups, topLevel } from '../cli/every_command.ts'

const rendered = await renderCliDocs()
const textOfPage = (name: string) =>
  [...rendered].find(([path]) => basename(path) === `${name}.md`)?.[1] ?? ''

test('the reference of the command line is what the commands declare (bun src/dev/cli_docs.ts writes it)', async () => {
  for (const [path, text] of rendered)
    expect({ path, text: await Bun.file(path).text() }).toEqual({ path, text })
})

test('every command is on the index and has one heading on one page', () => {
  const pages = [...rendered.values()].slice(1).join('\n')
  const usages = [
    ...topLevel.map(({ usage }) => usage),
    ...groups.flatMap(({ name, commands }) => commands.map(({ usage }) => `${name} ${usage}`)),
  ]
  const headings = [...pages.matchAll(/^##+ (.+)$/gm)].map(([, heading = '']) =>
    heading.replaceAll('\\', ''),
  )
  for (const usage of usages) {
    expect(headings.filter((heading) => heading === usage)).toHaveLength(1)
    const name = usage.replace(/ [<[].*/, '')
    expect(textOfPage('cli')).toContain(`[\`${name}\`](cli/`)
  }
})

test('every heading of the command list is on a page', () => {
  const index = textOfPage('cli')
  for (const heading of Object.keys(contents)) expect(index).toContain(`## ${heading}\n`)
})

test('every option of every command is on its page', () => {
  const pages = [...rendered.values()].join('\n')
  const specs = [...topLevel, ...groups.flatMap(({ commands }) => commands)]
  for (const [flags] of [...specs.flatMap(({ options }) => options), ...globalOptions])
    expect(pages).toContain(`- \`${flags.replace('...', '')}\`: `)
})

test('the index lists every error code with its exit code', () => {
  const rows = [...textOfPage('cli').matchAll(/^\| (\d+) \| .+ \| (.*) \|$/gm)]
  const listed = rows.flatMap(([, exit, codes = '']) =>
    [...codes.matchAll(/`(\w+)`/g)].map(([, code]) => [code, Number(exit)] as const),
  )
  expect(Object.fromEntries(listed)).toEqual(cliErrors)
})

test('the pages stay compact', () => {
  const words = [...rendered.values()].join(' ').split(/\s+/).length
  expect(words).toBeLessThan(6200)
})
