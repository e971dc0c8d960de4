/** Why the schema of a database cannot be used or changed: one line for the operator, with a code that stays. */
import { version } from '../../../package.json'

export abstract class SchemaError extends Error {
  abstract readonly code: string
}

/** A later version migrated the schema, to a state that this version cannot use. */
export class NewerSchema extends SchemaError {
  readonly code = 'newer_schema'

  constructor(migration: string, known = 'nothing') {
    super(
      `the database was migrated by a later version (${migration}); this is ${version}, with the schema ${known}: start the later version, or restore a backup from before the upgrade into an empty database`,
    )
  }
}

/** A resolver or a command of this version needs a migration that only the start of a control plane applies. */
export class OlderSchema extends SchemaError {
  readonly code = 'older_schema'

  constructor(pending: number | null) {
    const lacks = pending === null ? 'has no tables yet' : `needs ${pending} migrations`
    super(
      `the database ${lacks}, and only a control plane applies them: start a control plane of ${version} first`,
    )
  }
}

/** An applied migration differs from this executable's migration of that name. */
export class AlteredHistory extends SchemaError {
  readonly code = 'altered_schema'

  constructor(migration: string) {
    super(
      `migration ${migration} differs from the applied one: the database was not created by a Cloakroom release`,
    )
  }
}

/** Other transactions locked a migration's tables during all attempts. */
export class SchemaInUse extends SchemaError {
  readonly code = 'schema_in_use'

  constructor(cause: unknown) {
    super(
      'the schema could not be changed because other transactions lock its tables: end them (see pg_stat_activity) or stop the other processes, then start again',
      { cause },
    )
  }
}
