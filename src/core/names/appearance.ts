/** What people see of a name: the same for compatible characters, for ones that nobody sees, and for space around it. */
export function appearance(name: string): string {
  return name
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .trim()
}
