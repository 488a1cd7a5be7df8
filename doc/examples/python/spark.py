# steno: many files with Spark. SPDX-License-Identifier: MIT
#
#   spark-submit spark.py MODEL MANIFEST OUTPUT
#
# It needs pyspark, pandas and pyarrow. The worker of steno.ray as a pandas UDF: a process of Spark opens the model once and keeps it.
# MANIFEST has paths or JSON lines, OUTPUT becomes a folder of JSON lines. Give an executor one task at a time (spark.task.cpus =
# spark.executor.cores), as a model uses all of its threads. Files must be readable on every machine.
import sys

import pandas
from pyspark.sql import SparkSession

from steno.ray import OPTIONS, Transcribe, absolute, placed, rows_of_manifest

FIELDS = "id string, text string, language string, duration double, error string, segments string"
workers = {} # of a process, by model


def transcribe(model, threads):
    def tables(batches):
        if model not in workers:
            workers[model] = Transcribe(model, threads=threads)
        for batch in batches:
            yield pandas.DataFrame(workers[model](batch))[[field.split()[0] for field in FIELDS.split(", ")]]
    return tables


def main(model, manifest, output):
    spark = SparkSession.builder.appName("steno").config("spark.sql.execution.arrow.maxRecordsPerBatch", "32").getOrCreate()
    threads = int(spark.conf.get("spark.task.cpus", "1"))
    rows = [tuple(placed(row)[name] for name in ("id", "path", "channel", *OPTIONS)) for row in rows_of_manifest(manifest)]
    table = spark.createDataFrame(rows, "id string, path string, channel int, " + ", ".join(f"{name} string" for name in OPTIONS))
    parts = max(1, min(spark.sparkContext.defaultParallelism, len(rows)))
    table.repartition(parts).mapInPandas(transcribe(absolute(model), threads), FIELDS).write.json(output)
    spark.stop()


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: spark-submit spark.py MODEL MANIFEST OUTPUT")
    main(*sys.argv[1:])
