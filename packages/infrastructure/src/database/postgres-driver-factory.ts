import Module, { createRequire } from 'node:module';
import type { DataSource } from 'typeorm';
import type * as Postgres from 'typeorm/driver/postgres/PostgresDriver.js';

/**
 * Stands in place of TypeORM's factory of drivers, which loads those of all databases to make one of them: a tenth of the
 * time to start, and 6 MB that stay. It has to be imported before the data source is.
 */
const require = createRequire(import.meta.url);
const path = require.resolve('typeorm/driver/DriverFactory.js');
const factory = new Module(path);
factory.loaded = true;
factory.exports = {
  DriverFactory: class {
    create(dataSource: DataSource): Postgres.PostgresDriver {
      const { PostgresDriver } = require('typeorm/driver/postgres/PostgresDriver.js') as typeof Postgres;
      return new PostgresDriver(dataSource);
    }
  },
};
require.cache[path] = factory;
