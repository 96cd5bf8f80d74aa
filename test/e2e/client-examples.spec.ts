import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from '@jest/globals';
import ts from 'typescript';
import { useApi } from '../support/api.js';

const CLIENT = join(__dirname, '../../packages/client');
const EXAMPLES = join(CLIENT, 'examples');

/** What each example prints with no animals but Bella, Luna and Milo. */
const OUTPUTS: Readonly<Record<string, string>> = {
  'quick-start.ts': [
    'one page: 1 Bella',
    'one page: 2 Luna',
    'all pages: 1 Bella',
    'all pages: 2 Luna',
    'all pages: 3 Milo',
    'order 1 of animal 1 is placed',
    '',
  ].join('\n'),
  'pages.ts': '1 Bella\n2 Luna\n3 Milo\n',
  'orders.ts': [
    expect.stringMatching(/^409 pet_not_available: .+$/),
    'the order is completed',
    'animal 4 was adopted',
    '',
  ] as never,
  'messages.ts': '"Is Luna still there?" is queued\n',
};
