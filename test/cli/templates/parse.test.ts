// tier: quick
/** The parser finds the references of a template and leaves all other text. */
import { describe, expect, test } from 'bun:test'
import { parseTemplate, positionIn } from '../../../src/cli/templates/parse.ts'
import { effort } from '../../support/effort.ts'

/** Parts in readable form: references as `<project/environment/NAME>`. */
function read(text: string): string {
  const { parts, faults } = parseTemplate(text)
  expect(faults).toEqual([])
  return parts
    .map((part) => {
      if (typeof part === 'string') return part
      const { place, name } = part
      return place === null ? `<${name}>` : `<${place.project}/${place.environment}/${name}>`
    })
    .join('')
}

const LONG = 'N'.repeat(128)

test.each([
  ['', ''],
  ['no reference', 'no reference'],
  ['{{ NAME }}', '<NAME>'],
  ['{{NAME}}', '<NAME>'],
  ['{{\tNAME  }}', '<NAME>'],
  ['{{ .NAME }}', '<NAME>'],
  ['{{ _n4me }}', '<_n4me>'],
  [`{{ ${LONG} }}`, `<${LONG}>`],
  ['a{{ A }}b{{ B }}c', 'a<A>b<B>c'],
  ['{{ A }}{{ B }}', '<A><B>'],
  ['{"a": {"b": "{{ A }}"}}', '{"a": {"b": "<A>"}}'],
  ['{{ svc://pay/dev/A }}', '<pay/dev/A>'],
  ['{{svc://pay/dev/A}}', '<pay/dev/A>'],
  ['svc://pay/dev/A', '<pay/dev/A>'],
  ['a: svc://pay/dev/A\nb', 'a: <pay/dev/A>\nb'],
  ['"svc://pay/dev/A"', '"<pay/dev/A>"'],
  ['svc://pay/dev/A.', '<pay/dev/A>.'],
  ['svc://pay/dev/A-b', '<pay/dev/A>-b'],
  ['svc://pay/dev/A/more?x', '<pay/dev/A>/more?x'],
  ['svc://pay/dev/A}}', '<pay/dev/A>}}'],
  ['url=https://x:svc://pay/dev/A@h', 'url=https://x:<pay/dev/A>@h'],
  [
    'svc://018f3c5e-7d2a-7c31-9b0e-000000000002/dev/A',
    '<018f3c5e-7d2a-7c31-9b0e-000000000002/dev/A>',
  ],
  // A scheme that only ends in `svc` is another scheme.
  ['psvc://pay/dev/A', 'psvc://pay/dev/A'],
  ['git+svc://pay/dev/A', 'git+svc://pay/dev/A'],
  ['x.svc://pay', 'x.svc://pay'],
  ['SVC://pay/dev/A', 'SVC://pay/dev/A'],
  ['\\svc://pay', '\\svc://pay'],
  // Text that would be a reference.
  ['{{ "{{" }}', '{{'],
  ['{{"{{ NAME }}"}}', '{{ NAME }}'],
  ['{{ "svc://pay/dev/A" }}', 'svc://pay/dev/A'],
  ['{{ "say \\"}}\\" \\\\" }}', 'say "}}" \\'],
  ['{{ "" }}', ''],
  // Foreign syntax.
  [
    '${NAME} $NAME %NAME% { NAME } {% NAME %} }} <NAME>',
    '${NAME} $NAME %NAME% { NAME } {% NAME %} }} <NAME>',
  ],
  ['\uFEFF{{ A }}\r\n', '\uFEFF<A>\r\n'],
  ['žluť {{ A }} 🙂', 'žluť <A> 🙂'],
])('%j is read as %j', (text, expected) => {
  expect(read(text)).toBe(expected)
})

describe('an invalid reference', () => {
  test.each([
    ['{{ }}', '1:1 {{ }}'],
    ['{{}}', '1:1 {{}}'],
    ['{{ 1NAME }}', '1:1 {{ 1NAME }}'],
    ['{{ A B }}', '1:1 {{ A B }}'],
    ['{{ A | base64 }}', '1:1 {{ A | base64 }}'],
    ['{{ .Values.a }}', '1:1 {{ .Values.a }}'],
    ['{{{ A }}}', '1:1 {{{ A }}'],
    [`{{ N${LONG} }}`, expect.stringMatching(/^1:1 \{\{ N+…$/)],
    ['x\n  {{ A\n}}', '2:3 {{ A'],
    ['{{', '1:1 {{'],
    ['{{ "open }}', '1:1 {{ "open }}'],
    ['{{ "a\\n" }}', '1:1 {{ "a\\n" }}'],
    ['{{ svc://pay/A }}', '1:1 {{ svc://pay/A }}'],
    ['{{ svc://pay/dev/A/B }}', '1:1 {{ svc://pay/dev/A/B }}'],
    ['{{ svc://a b/dev/A }}', '1:1 {{ svc://a b/dev/A }}'],
    ['{{ op://pay/dev/A }}', '1:1 {{ op://pay/dev/A }}'],
    ['é 🙂 svc://pay and', '1:5 svc://pay and'],
    ['svc:///dev/A', '1:1 svc:///dev/A'],
    [`svc://pay/dev/N${LONG}`, expect.stringMatching(/^1:1 svc:\/\/pay\/dev\/N+…$/)],
  ])('%j', (text, expected) => {
    const [fault, ...more] = parseTemplate(text).faults
    expect(more).toEqual([])
    expect(`${positionIn(text, fault?.offset ?? -1)} ${fault?.text}`).toEqual(expected as string)
  })

  test('all invalid references are reported', () => {
    const { faults } = parseTemplate('{{ a b }} {{ A }}\nsvc:// {{ ?')
    expect(faults.map(({ text }) => text)).toEqual(['{{ a b }}', 'svc:// {{ ?', '{{ ?'])
  })
})

/** Bytes: the largest template in test:all. */
const OPENINGS_BYTES = effort(524_288, 4_194_304)

test('a template of only opening braces is read once', () => {
  for (const opening of ['{{', '{{ "', 'svc://a/', '{{ A', '{{ \\"', ' svc://']) {
    const text = opening.repeat(OPENINGS_BYTES / opening.length)
    expect(parseTemplate(text).faults.length).toBeGreaterThan(0)
  }
}, 60_000)
