/** The files whose words are checked, and lines that are excepted. */

/** Globs. To check more, add a path. */
export const paths: readonly string[] = [
  'src/console/**',
  'src/cli/**',
  'src/client/**',
  'src/core/config/**',
  'src/features/**',
  'src/http/**',
  'test/console/**',
  'test/*.ts',
  'test/{access,audit,bench,binary,client,clients,contract,core,corpus,crash,database}/**',
  'test/{deploy,derivation,dev,faults,features,leak_guard,load,notices,operator,outbound}/**',
  'test/{packaging,proxy,renewal,resolver,runner,sdk,security,server,sigchain,support}/**',
  'test/upgrade/**',
  'docs/guides/console.md',
  'docs/guides/agents.md',
  'docs/guides/secrets.md',
  'docs/guides/access.md',
  'docs/guides/teams.md',
  'docs/guides/ci.md',
  'docs/start/first-call.md',
  'docs/start/coming-from.md',
  'docs/guides/approvals.md',
  'docs/guides/connections.md',
  'docs/guides/notices.md',
  'docs/guides/proxy.md',
  'docs/guides/sdks.md',
  'docs/internals/**',
  'docs/reference/protocol.md',
  'docs/reference/compatibility.md',
  'test/clients/table/**',
  'README.md',
  'CHANGELOG.md',
  'docs/deploy/**',
  'test/docs/**',
  'src/access/**',
  'src/audit/**',
  'src/database/**',
  'src/derivation/**',
  'src/dev/**',
  'src/identity/**',
  'src/leak_guard/**',
  'src/notices/**',
  'src/operator/**',
  'src/outbound/**',
  'src/proxy/**',
  'src/renewal/**',
  'src/resolver/**',
  'src/server/**',
  'src/sigchain/**',
  'src/approvals/**',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'test/docs/protocol_examples.test.ts',
  'test/docs/protocol*.ts',
  'docs/start/install.md',
  'docs/guides/self-hosting.md',
  'docs/guides/containers.md',
  'docs/guides/kubernetes.md',
  'docs/guides/database-users.md',
  'docs/guides/upgrade.md',
  'docs/guides/backup.md',
  'docs/guides/server-keys.md',
  'docs/guides/monitoring.md',
  'docs/guides/scaling.md',
  'docs/guides/incidents.md',
  'docs/reference/errors.md',
  'docs/index.md',
  'src/cli/help/**',
  'src/dev/docs/**',
  'src/dev/built_archive.ts',
  'test/binary/docs.test.ts',
  'test/cli/help_topics.test.ts',
  'test/docs/commands.test.ts',
  'test/docs/sentences.test.ts',
  'test/support/command_lines.ts',
  'docs/reference/cli.md',
  'docs/reference/cli/*.md',
  'docs/reference/limits.md',
  'docs/reference/settings.md',
]

/** Globs of the files whose comments, test titles and headings need a subject. */
export const subjectPaths: readonly string[] = [
  'src/console/**',
  'test/console/**',
  'docs/guides/**',
  'docs/internals/**',
]

/** Globs of files that nobody here wrote as prose, with the reason. */
export const excluded: readonly { glob: string; reason: string }[] = [
  { glob: '**/*.{png,gz,ico,woff2,db,wasm}', reason: 'binary' },
  { glob: 'test/vectors/**', reason: 'published test vectors' },
  { glob: 'test/docs/protocol_rules/*.json', reason: 'quotes the former protocol page' },
  { glob: 'test/words/*.ts', reason: 'the phrases themselves' },
]

export type Exception = {
  path: string
  /** A part of the line. Of a phrase that goes over two lines, the first line counts. */
  line: string
  reason: string
}

/** Quotations, and vocabulary of a standard. An exception that excepts nothing fails the check. */
export const exceptions: readonly Exception[] = [
  {
    path: 'docs/guides/monitoring.md',
    line: '--kill-whom=main',
    reason: 'an option of systemctl',
  },
]
